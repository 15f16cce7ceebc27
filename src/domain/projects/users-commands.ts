import { changeIdentities, type IdentityChanges } from './change-identities.ts';
import { toUser, type User } from './project.ts';

/** The names to change; one that is absent stays. */
export interface UserNames {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
}

/** Changes the names of a user, without the blanks around them; undefined for an unknown user. */
export async function renameUser(
  changes: IdentityChanges,
  userId: number,
  { firstName, lastName }: UserNames,
): Promise<User | undefined> {
  return changeIdentities(changes, async (tx) => {
    const names = {
      ...(firstName === undefined ? {} : { first_name: firstName.trim() }),
      ...(lastName === undefined ? {} : { last_name: lastName.trim() }),
    };
    const user = () => tx('users').where({ id: userId });
    if (Object.keys(names).length > 0) await user().update(names);
    const row = await user().first();
    return row === undefined ? undefined : toUser(row);
  });
}
