import type { Caller, UserCaller } from '../../domain/common/access.ts';

/** The user behind an operation that only personal API keys may call. */
export function userOf(caller: Caller | null): UserCaller {
  if (caller?.kind !== 'user') throw new Error('The operation let in a caller who is no user.');
  return caller;
}

/** Who a request writes as, and where. A project's key is nobody in particular. */
export function authorOf({
  projectId,
  caller,
}: {
  readonly projectId: number;
  readonly caller: Caller;
}): { readonly projectId: number; readonly userId: number | null } {
  return { projectId, userId: caller.kind === 'user' ? caller.user.id : null };
}
