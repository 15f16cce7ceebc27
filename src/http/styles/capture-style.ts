import { Refusal } from '../../domain/common/refusal.ts';
import type { WireRequest } from '../wire/wire.ts';
import type { Style } from './style.ts';
import { wordFindingAsText } from './text-finding.ts';

/** A line of text for SDKs that capture. */
export const captureStyle: Style = {
  refuseHead: null,
  echoedHeaders: [],
  wordFault: (fault, request) => {
    if (fault.kind === 'too_large') {
      return new Refusal('too_large', `maximum event size exceeded: ${fault.reason}`);
    }
    if (request !== undefined && isWithoutData(request)) {
      return new Refusal('malformed', 'request missing data payload');
    }
    const step = fault.kind === 'syntax' ? 'parse' : 'decode';
    return new Refusal('malformed', `failed to ${step} request: ${fault.reason}`);
  },
  wordFinding: (finding, operation, body) => {
    const { complaint } = wordFindingAsText(finding, operation, body);
    return new Refusal('malformed', `failed to hydrate events from request: ${complaint}`);
  },
};

/** The data of a request is in its body, or in its query, where it goes before the body. */
function isWithoutData({ payload, query }: WireRequest): boolean {
  return payload.length === 0 && (query.data ?? '') === '';
}
