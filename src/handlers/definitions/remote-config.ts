import { isId } from '../../domain/common/ids.ts';
import { isJsonObject } from '../../domain/common/json.ts';
import { notFound, unreadable } from '../../domain/common/refusal.ts';
import { getFlag, getFlagByKey } from '../../domain/flags/list/flags-queries.ts';
import { openPayloads } from '../../domain/flags/payloads/encrypted-payloads.ts';
import { REDACTED_PAYLOAD } from '../../domain/flags/payloads/payload-encryption.ts';
import type { FlagCommandsContext } from '../../domain/flags/write/flags-commands.ts';
import { type Handlers, RawJson } from '../../operations/operation.ts';

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
        throw unreadable(
          'Failed to decrypt the remote config payload. ' +
            'Please contact support if the problem persists.',
          'remote_config_decrypt_failed',
          new Error(`No encryption key fits the payload of flag ${flag.id}.`),
        );
      }
      return reply(200, new RawJson(JSON.stringify(payload)));
    },
  };
}

/** An id beyond the column's range names nothing. */
function toId(text: string): number {
  const id = Number(text);
  if (!isId(id)) throw notFound();
  return id;
}
