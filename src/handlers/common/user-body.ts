import type { User } from '../../domain/projects/project.ts';

/** A user as bodies name them; null once the user is removed. */
export function toUserBody(user: User | null) {
  return user === null ? null : toUserFields(user);
}

/** The fields of a user that every body has. */
export function toUserFields(user: User) {
  return {
    id: user.id,
    uuid: user.uuid,
    distinct_id: user.distinctId,
    first_name: user.firstName,
    last_name: user.lastName,
    email: user.email,
    is_email_verified: user.isEmailVerified,
    hedgehog_config: null,
    role_at_organization: user.roleAtOrganization,
  };
}
