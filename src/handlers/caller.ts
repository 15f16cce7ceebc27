import type { Caller, UserCaller } from '../domain/access.ts';

/** The user behind an operation that only personal API keys may call. */
export function userOf(caller: Caller | null): UserCaller {
  if (caller?.kind !== 'user') throw new Error('The operation let in a caller who is no user.');
  return caller;
}
