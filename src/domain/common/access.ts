/**
 * Who is calling and what they may do. Plain types and rules without I/O, shared by the HTTP shell,
 * the handlers and the domain.
 */

/** The closed list of scopes that a personal API key can hold; `*` holds them all. */
export const SCOPES = [
  '*',
  ...[
    'feature_flag',
    'cohort',
    'dashboard',
    'project',
    'person',
    'group',
    'event',
    'user',
    'personal_api_key',
  ].flatMap((noun) => [`${noun}:read`, `${noun}:write`]),
  'activity_log:read',
] as const;

/** A person, as far as a key that belongs to them tells. */
export interface UserIdentity {
  readonly id: number;
  readonly uuid: string;
  readonly distinctId: string;
  readonly email: string;
}

/** The holder of a personal API key. */
export interface UserCaller {
  readonly kind: 'user';
  readonly user: UserIdentity;
  readonly scopes: readonly string[];
  /** The projects that the key is limited to; null when it is not. */
  readonly keyProjectIds: readonly number[] | null;
  /** The projects that the user is a member of, lowest id first. */
  readonly memberProjectIds: readonly number[];
}

/** The holder of a project secret key. */
export interface ProjectCaller {
  readonly kind: 'project';
  readonly projectId: number;
}

export type Caller = UserCaller | ProjectCaller;

/** A caller who was let into one project. */
export interface ProjectAccess {
  readonly projectId: number;
  readonly caller: Caller;
}

/** The projects that both the user and their key reach, lowest id first. */
export function reachableProjectIds(caller: UserCaller): number[] {
  const { keyProjectIds, memberProjectIds } = caller;
  return memberProjectIds.filter((id) => keyProjectIds === null || keyProjectIds.includes(id));
}

/** What a project secret key may do; it serves flag definitions and nothing else. */
const PROJECT_SECRET_SCOPES: readonly string[] = ['feature_flag:read'];

/** Whether the caller holds the scope. Holding `x:write` includes `x:read`. */
export function hasScope(caller: Caller, required: string): boolean {
  const held = caller.kind === 'user' ? caller.scopes : PROJECT_SECRET_SCOPES;
  if (held.includes('*') || held.includes(required)) return true;
  return required.endsWith(':read') && held.includes(required.replace(/:read$/, ':write'));
}

/** Whether the text is a scope that a key can be given. */
export function isScope(text: string): boolean {
  return SCOPES.some((scope) => scope === text);
}
