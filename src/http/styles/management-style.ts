import { Refusal } from '../../domain/common/refusal.ts';
import type { DecodeFault } from '../decode/decode-fault.ts';
import type { Style } from './style.ts';
import { wordFinding } from './word-finding.ts';

/** The envelope of the management API, with the field that is wrong. */
export const managementStyle: Style = {
  refuseHead: null,
  echoedHeaders: [],
  wordFault: (fault, request) => {
    if (fault.kind === 'too_large') return new Refusal('too_large', sentenceOf(fault));
    if (fault.kind === 'media_type') return new Refusal('unsupported_media_type', fault.reason);
    const isText = (request?.headers['content-type'] ?? '').startsWith('text/');
    return new Refusal(
      'malformed',
      isText ? `${fault.reason}.` : `JSON parse error - ${fault.reason}`,
    );
  },
  wordFinding: (finding) => wordFinding(finding),
};

function sentenceOf({ reason }: DecodeFault): string {
  return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`.replace(
    /^The body is larger/,
    'The request body is larger',
  );
}
