import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { HttpReply } from './http.ts';
import { pick } from './read.ts';

/** One operation as the contract tells it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The path and those of `x-alias-paths`. */
  readonly paths: readonly string[];
  readonly statuses: readonly number[];
  /** The request bodies that the contract shows. */
  readonly requestExamples: readonly unknown[];
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** Read here from the file, so that nothing of the service stands between it and the tests. */
const document: unknown = parse(readFileSync(new URL('../openapi.yaml', import.meta.url), 'utf8'));

/** Every operation of the contract. */
export const operations: readonly Operation[] = entriesOf(pick(document, 'paths')).flatMap(
  ([path, item]) =>
    entriesOf(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => readOperation(path, method, operation)),
);

/** The operation that a request is for; undefined when it is for none. */
export function operationOf(method: string, path: string): Operation | undefined {
  const [bare = ''] = path.split('?');
  const matches = operations.filter(
    (operation) =>
      operation.method === method && operation.paths.some((template) => fits(template, bare)),
  );
  // A literal path goes before one with a parameter in the same place.
  return matches.find(({ path: template }) => !template.includes('{id}')) ?? matches[0];
}

const validators = new Map<string, ValidateFunction>();
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...recordOf(close(document)), $id: 'contract' });

/**
 * What is wrong with a reply to the operation, or null. Schemas are closed here: a field that the
 * contract does not name is a finding.
 */
export function findFault(operation: Operation, reply: HttpReply): string | null {
  const found = pick(
    document,
    'paths',
    operation.path,
    operation.method.toLowerCase(),
    'responses',
  );
  const declared = pick(found, reply.status);
  if (declared === undefined) return `${operation.id} does not declare ${reply.status}`;
  const response = resolve(declared);
  const missing = entriesOf(pick(response, 'headers')).find(
    ([name]) => reply.headers[name.toLowerCase()] === undefined,
  );
  if (missing !== undefined) return `the header ${missing[0]} is missing`;
  const [content] = entriesOf(pick(response, 'content'));
  if (content === undefined) return reply.text === '' ? null : 'there is a body';
  const [mediaType, { schema }] = [content[0], recordOf(content[1])];
  const sent = (reply.headers['content-type'] ?? '').split(';')[0];
  if (sent !== mediaType) return `the media type is ${sent} and not ${mediaType}`;
  const name = `${operation.id} ${reply.status}`;
  const validate = validators.get(name) ?? ajv.compile(recordOf(pointInto(close(schema))));
  validators.set(name, validate);
  return validate(reply.body) ? null : `${ajv.errorsText(validate.errors)}: ${reply.text}`;
}

function readOperation(path: string, method: string, operation: unknown): Operation {
  const aliases = pick(operation, 'x-alias-paths');
  const content = pick(operation, 'requestBody', 'content', 'application/json');
  const example = pick(content, 'example');
  return {
    id: String(pick(operation, 'operationId')),
    method: method.toUpperCase(),
    path,
    paths: [path, ...(Array.isArray(aliases) ? aliases.map(String) : [])],
    statuses: entriesOf(pick(operation, 'responses')).map(([status]) => Number(status)),
    requestExamples: [
      ...(example === undefined ? [] : [example]),
      ...entriesOf(pick(content, 'examples')).map(([, named]) => pick(named, 'value')),
    ],
  };
}

function fits(template: string, path: string): boolean {
  const [expected, given] = [template, path].map((each) => each.replace(/\/$/, '').split('/'));
  if (expected === undefined || given?.length !== expected.length) return false;
  return expected.every((step, index) => step.startsWith('{') || step === given[index]);
}

/** The thing that a reference names, or the thing itself. */
function resolve(value: unknown): unknown {
  const reference = pick(value, '$ref');
  return typeof reference === 'string' ? pick(document, ...reference.split('/').slice(1)) : value;
}

/** A copy in which object schemas that name their properties allow no others. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, item]) => [key, close(item)]));
  const isNamed = copy.type === 'object' && copy.properties !== undefined;
  return isNamed ? { additionalProperties: false, ...copy } : copy;
}

/** A copy whose references lead into the contract from outside. */
function pointInto(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointInto);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string' ? `contract${item}` : pointInto(item),
    ]),
  );
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function recordOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(entriesOf(value));
}
