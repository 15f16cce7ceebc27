import { fileURLToPath } from 'node:url';
import type { Hooks, Transaction } from 'dredd';
import Dredd from 'dredd';
import type { Contract, Operation } from '../contract.ts';
import type { HttpReply, RequestOptions } from '../http.ts';
import { pick } from '../read.ts';

/** The request that a transaction is to make instead of the one that Dredd made up. */
export interface PlannedRequest {
  readonly method: string;
  readonly path: string;
  readonly options: RequestOptions;
}

/** What became of one transaction. `fault` is null when it passed. */
export interface DreddResult {
  readonly name: string;
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly fault: string | null;
}

export interface DreddRun {
  readonly url: string;
  readonly document: unknown;
  readonly contract: Contract;
  /** Says what to send so that the operation answers with the status; null skips it. */
  readonly plan: (
    operation: Operation,
    status: number,
    example: string,
  ) => Promise<PlannedRequest | null>;
}

/**
 * Runs Dredd over a contract against a started service. Dredd checks status, media type and the
 * keys of the example; a hook adds what Dredd does not do for OpenAPI 3, the check of the whole
 * reply against its schema.
 */
export async function runDredd(run: DreddRun): Promise<readonly DreddResult[]> {
  const results: DreddResult[] = [];
  const key = Symbol.for('burgee.dredd');
  let hasHooks = false;
  Reflect.set(globalThis, key, (hooks: Hooks) => {
    hasHooks = true;
    addHooks(hooks, run, results);
  });
  const dredd = new Dredd({
    endpoint: run.url,
    apiDescriptions: [{ location: 'openapi.json', content: JSON.stringify(inline(run.document)) }],
    hookfiles: [fileURLToPath(new URL('hooks.cjs', import.meta.url))],
    loglevel: 'silent',
    reporter: ['dot'],
  });
  await new Promise<void>((resolve, reject) => {
    dredd.run((error) => (error ? reject(error) : resolve()));
  });
  Reflect.deleteProperty(globalThis, key);
  // Dredd only warns when it cannot load its hooks, and goes on without them.
  if (!hasHooks) throw new Error('Dredd did not load its hooks.');
  return results;
}

function addHooks(hooks: Hooks, run: DreddRun, results: DreddResult[]): void {
  const faults = new Map<Transaction, string>();
  hooks.beforeEach((transaction, done) => {
    prepare(run, transaction)
      .catch((error: unknown) => faults.set(transaction, `no request: ${String(error)}`))
      .finally(done);
  });
  hooks.beforeEachValidation((transaction, done) => {
    const fault = findFault(run.contract, transaction);
    if (fault !== null) faults.set(transaction, fault);
    loosen(transaction);
    done();
  });
  hooks.afterEach((transaction, done) => {
    const name = nameOf(run.contract, transaction);
    const fault = faults.get(transaction) ?? faultOf(transaction);
    const ended = fault === null ? 'passed' : 'failed';
    results.push({ name, fault, outcome: transaction.skip ? 'skipped' : ended });
    done();
  });
}

/** The operation that a transaction belongs to. */
function operationOf(contract: Contract, { origin, request }: Transaction): Operation {
  const found = contract.operations.find(
    ({ path, method }) => path === origin.resourceName && method === request.method,
  );
  if (found === undefined) throw new Error(`No operation ${request.method} ${origin.resourceName}`);
  return found;
}

function nameOf(contract: Contract, transaction: Transaction): string {
  return `${operationOf(contract, transaction).id} ${transaction.expected.statusCode}`;
}

async function prepare(run: DreddRun, transaction: Transaction): Promise<void> {
  const { request, expected } = transaction;
  const operation = operationOf(run.contract, transaction);
  const planned = await run.plan(operation, Number(expected.statusCode), request.body);
  if (planned === null) {
    transaction.skip = true;
    return;
  }
  const { path, options } = planned;
  const [bare = '', search = ''] = path.split('?');
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(options.query ?? {})) query.set(name, String(value));
  transaction.fullPath = query.size === 0 ? bare : `${bare}?${query}`;
  request.body = textOf(options);
  request.headers = {
    ...(request.body === '' ? {} : { 'Content-Type': 'application/json' }),
    ...(typeof options.key === 'string' ? { Authorization: `Bearer ${options.key}` } : {}),
    ...Object.fromEntries(
      Object.entries(options.headers ?? {}).map(([name, value]) => [titleCase(name), value]),
    ),
  };
}

function textOf({ body, raw }: RequestOptions): string {
  if (raw !== undefined) return typeof raw === 'string' ? raw : Buffer.from(raw).toString('latin1');
  return body === undefined ? '' : JSON.stringify(body);
}

/** Dredd adds a `Content-Type` of its own unless it finds one in this spelling. */
function titleCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}

/** Holds the whole reply to its schema, which Dredd does not do for OpenAPI 3. */
function findFault(contract: Contract, transaction: Transaction): string | null {
  const { real } = transaction;
  if (real === undefined) return 'no reply';
  const isJson = real.headers['content-type']?.startsWith('application/json') ?? false;
  const text = real.body ?? '';
  const reply: HttpReply = {
    status: real.statusCode,
    headers: real.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : text || null,
  };
  return contract.findFault(operationOf(contract, transaction), reply);
}

/**
 * Takes back what Dredd gets wrong: it compares media types with their charset, and takes the keys
 * of a map that is free by contract for required ones. The schema check covers both.
 */
function loosen(transaction: Transaction): void {
  const { real, expected } = transaction;
  delete expected.body;
  const type = expected.headers['Content-Type'];
  expected.headers = type === undefined ? {} : { 'Content-Type': type };
  if (real?.headers['content-type'] === undefined) return;
  real.headers['content-type'] = real.headers['content-type'].replace(/;.*$/, '');
}

const WHOLE_SCHEMA = /^#\/components\/schemas\/\w+$/;

/** Puts in place what references name; Dredd follows those to whole schemas only. */
function inline(document: unknown): unknown {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (typeof value !== 'object' || value === null) return value;
    const reference = pick(value, '$ref');
    if (typeof reference === 'string' && !WHOLE_SCHEMA.test(reference)) {
      return copy(pick(document, ...reference.split('/').slice(1)));
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]));
  };
  return copy(document);
}

function faultOf({ results, errors }: Transaction): string | null {
  const fields = Object.values(results?.fields ?? {}).filter(({ valid }) => !valid);
  const found = [...fields.flatMap((field) => field.errors), ...(errors ?? [])];
  return found.length === 0 ? null : found.map(({ message }) => message).join('; ');
}
