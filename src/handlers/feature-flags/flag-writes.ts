import type { Caller, ProjectAccess } from '../../domain/common/access.ts';
import { isJson } from '../../domain/common/json.ts';
import { type Refusal, refusedAction } from '../../domain/common/refusal.ts';
import type { DescribedFlag } from '../../domain/flags/model/flag.ts';
import type { EditBasis } from '../../domain/flags/write/flag-conflicts.ts';
import {
  createFlag,
  type FlagCommandsContext,
  setFlagActive,
  updateFlag,
} from '../../domain/flags/write/flags-commands.ts';
import type { Body, Handlers } from '../../operations/operation.ts';
import { authorOf } from '../common/caller.ts';
import { rightsOf, toFlagBody, toFlagInput } from './flag-body.ts';

/** The `Allow` header of one flag's path. DELETE is refused and therefore not in it. */
const FLAG_METHODS = 'GET, HEAD, PUT, PATCH, OPTIONS';

type FlagWriteHandlers = Pick<
  Handlers,
  | 'createFeatureFlag'
  | 'updateFeatureFlag'
  | 'replaceFeatureFlag'
  | 'deleteFeatureFlag'
  | 'enableFeatureFlag'
  | 'disableFeatureFlag'
>;

/** The operations that write one flag. */
export function createFlagWriteHandlers(context: FlagCommandsContext): FlagWriteHandlers {
  const describe = (described: DescribedFlag, caller: Caller) =>
    toFlagBody(described, rightsOf(caller, context.payloadCipher), context.now());

  /** PUT and PATCH change what is sent; the contract asks more of a PUT. */
  async function change(access: ProjectAccess, id: number, body: Body<'updateFeatureFlag'>) {
    const author = authorOf(access);
    const changed = await updateFlag(context, author, id, toFlagInput(body), toEditBasis(body));
    return describe(changed, access.caller);
  }

  return {
    async createFeatureFlag({ body, access, reply }) {
      const input = { ...toFlagInput(body), key: body.key };
      const created = await createFlag(context, authorOf(access), input);
      return reply(201, describe(created, access.caller));
    },

    async updateFeatureFlag({ params, body, access, reply }) {
      return reply(200, await change(access, params.id, body));
    },

    async replaceFeatureFlag({ params, body, access, reply }) {
      return reply(200, await change(access, params.id, body));
    },

    deleteFeatureFlag({ reply }) {
      return reply(
        405,
        {
          type: 'invalid_request',
          code: 'method_not_allowed',
          detail:
            'Hard delete of this feature flag is not allowed. Use PATCH to set deleted to true.',
          attr: null,
        },
        { allow: FLAG_METHODS },
      );
    },

    async enableFeatureFlag({ params, access, reply }) {
      const flag = await setFlagActive(context, authorOf(access), params.id, true);
      if (flag === null) throw deletedBefore('enabling');
      return reply(200, describe(flag, access.caller));
    },

    async disableFeatureFlag({ params, access, reply }) {
      const flag = await setFlagActive(context, authorOf(access), params.id, false);
      if (flag === null) throw deletedBefore('disabling');
      return reply(200, describe(flag, access.caller));
    },
  };
}

function toEditBasis(body: NonNullable<Body<'updateFeatureFlag'>>): EditBasis {
  const original: unknown = body.original_flag;
  return { version: body.version, originalFlag: isJson(original) ? original : undefined };
}

function deletedBefore(action: string): Refusal {
  const detail = `This feature flag has been deleted. Restore it before ${action} it.`;
  return refusedAction('success', { detail });
}
