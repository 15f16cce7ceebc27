import { jsonReply } from '../wire/replies.ts';
import type { WireReply } from '../wire/wire.ts';

/** How far the service has come, as health checks see it. */
export interface Health {
  readonly isReady: boolean;
  readonly isStopping: boolean;
}

export const HEALTH_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** Whether the path, without the slash at its end, is one of the two health checks. */
export function isHealthPath(path: string): boolean {
  return path === '/_liveness' || path === '/_readiness';
}

/** The reply to `/_liveness` and `/_readiness`. */
export function answerHealth(path: string, { isReady, isStopping }: Health): WireReply {
  if (path === '/_liveness') return jsonReply(200, { status: 'alive' });
  if (isStopping) return jsonReply(503, { status: 'stopping' });
  return jsonReply(isReady ? 200 : 503, { status: isReady ? 'ready' : 'starting' });
}

/** The reply to everything else while the service starts. */
export function notReadyReply(): WireReply {
  return jsonReply(
    503,
    {
      type: 'server_error',
      code: 'service_unavailable',
      detail: 'Burgee is starting. Please try again shortly.',
      attr: null,
    },
    { 'retry-after': '1' },
  );
}
