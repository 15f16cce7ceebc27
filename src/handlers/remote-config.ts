import { notFound } from '../domain/errors.ts';
import { openPayloads } from '../domain/flags/encrypted-payloads.ts';
import type { FlagCommandsContext } from '../domain/flags/flags-commands.ts';
import { getFlag, getFlagByKey } from '../domain/flags/flags-queries.ts';
import { REDACTED_PAYLOAD } from '../domain/flags/payload-encryption.ts';
import { isJsonObject } from '../domain/json.ts';
import { type Handlers, RawJson } from '../server/operation.ts';

/** The payload key of a flag without variants; no other payload is served as configuration. */
const PAYLOAD_KEY = 'true';

/** SDKs take an empty body, and not the text null, for no payload. */
const NO_PAYLOAD = new RawJson('');

/** The operation that reads the payload of a remote configuration flag. */
export function createRemoteConfigHandlers(
  context: FlagCommandsContext,
): Pick<Handlers, 'getRemoteConfig'> {
  return {
    async getRemoteConfig({ params, access, reply }) {
      const { projectId, caller } = access;
      const described = /^\d+$/.test(params.id)
        ? await getFlag(context.db, projectId, toId(params.id))
        : await getFlagByKey(context.db, projectId, params.id);
      const flag = described?.flag;
      if (flag === undefined || flag.deleted || !flag.isRemoteConfiguration) throw notFound();
      // Only a person's own key reads secrets; a project's key is in too many places.
      const { payloads } = openPayloads(
        flag,
        caller.kind === 'user' ? context.payloadCipher : null,
      );
      const payload = isJsonObject(payloads) ? payloads[PAYLOAD_KEY] : undefined;
      if (payload === undefined || payload === null || payload === '')
        return reply(200, NO_PAYLOAD);
      if (payload === REDACTED_PAYLOAD && caller.kind === 'user') {
        throw new Error(
          `The payload of flag ${flag.id} cannot be decrypted with the keys there are.`,
        );
      }
      return reply(200, new RawJson(JSON.stringify(payload)));
    },
  };
}

const ID_MAX = 2_147_483_647;

/** An id beyond the column's range names nothing. */
function toId(text: string): number {
  const id = Number(text);
  if (id < 1 || id > ID_MAX) throw notFound();
  return id;
}
