import { Refusal } from '../../domain/common/refusal.ts';
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
    if (request?.payload.length === 0)
      return new Refusal('malformed', 'request missing data payload');
    const step = fault.kind === 'syntax' ? 'parse' : 'decode';
    return new Refusal('malformed', `failed to ${step} request: ${fault.reason}`);
  },
  wordFinding: (finding, operation, body) => {
    const { complaint } = wordFindingAsText(finding, operation, body);
    return new Refusal('malformed', `failed to hydrate events from request: ${complaint}`);
  },
};
