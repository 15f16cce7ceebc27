import { invalidField, notFound } from '../../domain/common/refusal.ts';
import {
  createOwnPersonalApiKey,
  relabelPersonalApiKey,
  revokeOwnPersonalApiKey,
} from '../../domain/projects/api-keys-commands.ts';
import {
  getPersonalApiKey,
  listOwnPersonalApiKeys,
  type PersonalApiKey,
} from '../../domain/projects/api-keys-queries.ts';
import type { IdentityChanges } from '../../domain/projects/change-identities.ts';
import type { Body, Handlers } from '../../operations/operation.ts';
import { userOf } from '../common/caller.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';

type KeyHandlers = Pick<
  Handlers,
  | 'listPersonalApiKeys'
  | 'createPersonalApiKey'
  | 'getPersonalApiKey'
  | 'updatePersonalApiKey'
  | 'revokePersonalApiKey'
>;

/** The operations on the caller's own keys. */
export function createPersonalApiKeyHandlers(context: IdentityChanges): KeyHandlers {
  return {
    async listPersonalApiKeys({ caller, reply }) {
      const keys = await listOwnPersonalApiKeys(context.db, userOf(caller).user.id);
      return reply(
        200,
        keys.map((apiKey) => toKeyBody(apiKey)),
      );
    },

    async createPersonalApiKey({ body, caller, reply }) {
      refuseUnstorableText(body);
      const { label, scopes, scoped_teams: projectIds } = body;
      const { apiKey, key } = await createOwnPersonalApiKey(context, userOf(caller), {
        label,
        scopes,
        projectIds: projectIds?.length === 0 ? null : projectIds,
      });
      return reply(201, toKeyBody(apiKey, key));
    },

    async getPersonalApiKey({ params, caller, reply }) {
      const apiKey = await getPersonalApiKey(context.db, userOf(caller).user.id, params.key_id);
      if (apiKey === undefined) throw notFound();
      return reply(200, toKeyBody(apiKey));
    },

    async updatePersonalApiKey({ params, body, caller, reply }) {
      refuseUnstorableText(body);
      refuseFixedFields(body);
      const userId = userOf(caller).user.id;
      const apiKey =
        body.label === undefined
          ? await getPersonalApiKey(context.db, userId, params.key_id)
          : await relabelPersonalApiKey(context, userId, params.key_id, body.label);
      if (apiKey === undefined) throw notFound();
      return reply(200, toKeyBody(apiKey));
    },

    async revokePersonalApiKey({ params, caller, reply }) {
      await revokeOwnPersonalApiKey(context, userOf(caller).user.id, params.key_id);
      return reply(204, undefined);
    },
  };
}

/** Whoever narrows a key has to hear that it did not become narrower. */
function refuseFixedFields(body: Body<'updatePersonalApiKey'>): void {
  for (const field of ['scopes', 'scoped_teams'] as const) {
    if (body[field] === undefined) continue;
    throw invalidField(field, 'This cannot be changed. Create another key and revoke this one.');
  }
}

/** A key as it is sent; with its secret only in the reply to its creation. */
function toKeyBody(apiKey: PersonalApiKey, value: string | null = null) {
  return {
    id: apiKey.id,
    label: apiKey.label,
    value,
    mask_value: apiKey.hint,
    created_at: apiKey.createdAt.toISOString(),
    user_id: apiKey.userId,
    scopes: [...apiKey.scopes],
    scoped_teams: apiKey.projectIds === null ? null : [...apiKey.projectIds],
  };
}
