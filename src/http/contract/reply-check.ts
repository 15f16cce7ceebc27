import { gunzipSync } from 'node:zlib';
import type { ErrorObject } from 'ajv';
import type { WireReply } from '../wire/wire.ts';
import type { CompiledContract } from './compiled/compiled-contract.ts';
import { replyName } from './compiled/compiled-contract.ts';
import type { ContractDocument, ContractOperation } from './contract-document.ts';

/** What is wrong with a reply in the eyes of the contract, or null. */
export type CheckReply = (operation: ContractOperation, reply: WireReply) => string | null;

/**
 * Checks replies against the contract. The contract's replies are open so that fields may be added,
 * but here they are closed, so that an undocumented field is a finding.
 */
export async function createReplyCheck(
  document: Pick<ContractDocument, 'definition' | 'compiled'>,
): Promise<CheckReply> {
  const validatorOf = document.compiled?.replyValidatorOf ?? (await compile(document));
  return (operation, reply) => {
    const mediaType = operation.mediaTypes.get(reply.status);
    if (mediaType === undefined) return `the status ${reply.status} is not declared`;
    if (mediaType === null) return reply.body === null ? null : 'the reply must not have a body';
    if (reply.body === null && operation.mayBeEmpty) return null;
    const sent = (reply.headers['content-type'] ?? '').split(';')[0];
    if (sent !== mediaType) return `the media type is ${sent} instead of ${mediaType}`;
    if (mediaType !== 'application/json') return null;
    const validate = validatorOf(operation.id, reply.status);
    if (validate === undefined || validate(JSON.parse(textOf(reply)))) return null;
    return textOfErrors(validate.errors ?? []);
  };
}

/** What compiles is large, and an installation that was built does without it. */
async function compile({
  definition,
}: Pick<ContractDocument, 'definition'>): Promise<CompiledContract['replyValidatorOf']> {
  const { compileReplies } = await import('./compiled/compile-replies.ts');
  const { validatorOf } = compileReplies(definition);
  return (operationId, status) => validatorOf(replyName(operationId, status));
}

function textOfErrors(errors: readonly ErrorObject[]): string {
  return errors.map(({ instancePath, message }) => `body${instancePath} ${message}`).join(', ');
}

function textOf({ body, headers }: WireReply): string {
  if (!Buffer.isBuffer(body)) return body ?? '';
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('utf8');
}
