import { reachableProjectIds, type UserCaller } from '../../domain/common/access.ts';
import { Refusal } from '../../domain/common/refusal.ts';
import type { IdentityChanges } from '../../domain/projects/change-identities.ts';
import type { Project, User } from '../../domain/projects/project.ts';
import { getUser, listProjectsById } from '../../domain/projects/projects-queries.ts';
import { renameUser } from '../../domain/projects/users-commands.ts';
import type { Handlers } from '../../operations/operation.ts';
import { userOf } from '../common/caller.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';
import { toUserFields } from '../common/user-body.ts';

type UserHandlers = Pick<Handlers, 'getCurrentUser' | 'updateCurrentUser'>;

/** The operations on the user whose key is used. */
export function createUserHandlers(context: IdentityChanges): UserHandlers {
  /** Looks the projects up that the caller reaches. A removed user's key goes with them. */
  async function describe(user: User | undefined, caller: UserCaller) {
    if (user === undefined) {
      throw new Refusal('authentication_failed', 'The user of this key is removed.');
    }
    const projects = await listProjectsById(context.db, reachableProjectIds(caller));
    return toCurrentUserBody(user, projects);
  }

  return {
    async getCurrentUser({ caller, reply }) {
      const own = userOf(caller);
      const user = await getUser(context.db, own.user.id);
      return reply(200, await describe(user, own));
    },

    async updateCurrentUser({ body, caller, reply }) {
      refuseUnstorableText(body);
      const own = userOf(caller);
      const names = { firstName: body.first_name, lastName: body.last_name };
      const user = await renameUser(context, own.user.id, names);
      return reply(200, await describe(user, own));
    },
  };
}

function toCurrentUserBody(user: User, projects: readonly Project[]) {
  const references = projects.map(toProjectReference);
  return {
    ...toUserFields(user),
    date_joined: user.createdAt.toISOString(),
    organization: null,
    team: references[0] ?? null,
    projects: references,
  };
}

function toProjectReference({ id, uuid, name, apiToken, timezone }: Project) {
  return { id, uuid, name, api_token: apiToken, timezone };
}
