import { Refusal } from '../../domain/common/refusal.ts';
import type { Style } from './style.ts';
import { wordFindingAsText } from './text-finding.ts';

/** A line of text for SDKs that evaluate. */
export const evaluationStyle: Style = {
  refuseHead: null,
  echoedHeaders: [],
  wordFault: (fault) => {
    if (fault.kind === 'too_large') {
      return new Refusal('too_large', `Request body too large: ${fault.reason}.`);
    }
    return undecodable(fault.kind === 'syntax' ? 'invalid JSON' : fault.reason);
  },
  wordFinding: (finding, operation, body) => {
    const { isAboutQuery, complaint } = wordFindingAsText(finding, operation, body);
    return undecodable(isAboutQuery ? complaint : `invalid JSON: ${complaint}`);
  },
};

function undecodable(reason: string): Refusal {
  return new Refusal(
    'malformed',
    `Failed to decode request: ${reason}. Please check your request format and try again.`,
  );
}
