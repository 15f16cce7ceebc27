import { type Backend, loadBackend } from '../src/http/contract/backend.ts';
import { type ContractDocument, readContract } from '../src/http/contract/contract-document.ts';
import { type CheckReply, createReplyCheck } from '../src/http/contract/reply-check.ts';

/** What is made of a contract, which takes a second for Burgee's own. */
interface Made {
  readonly backend: Backend;
  readonly checkReply: CheckReply;
}

let own: ContractDocument | undefined;
const made = new WeakMap<ContractDocument, Promise<Made>>();

/** Burgee's contract, read once for all test files of a worker. */
export function ownContract(): ContractDocument {
  own ??= readContract();
  return own;
}

/** What is made of the contract, once for all test files of a worker. */
export function compiledOnce(document: ContractDocument): Promise<Made> {
  const known = made.get(document) ?? compile(document);
  made.set(document, known);
  return known;
}

async function compile(document: ContractDocument): Promise<Made> {
  return {
    backend: await loadBackend(document),
    checkReply: await createReplyCheck(document),
  };
}
