import { readFileSync } from 'node:fs';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { HttpReply } from './http.ts';
import { entriesOf, pick } from './read.ts';

/** One operation as the contract tells it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The path and those of `x-alias-paths`. */
  readonly paths: readonly string[];
  /** The path with the examples of its parameters. */
  readonly examplePath: string;
  readonly tag: string;
  readonly statuses: readonly number[];
  /** The kinds of keys that it takes, any one of them; none when it is open to everybody. */
  readonly schemes: readonly string[];
  /** The scope that a personal API key needs. */
  readonly requiredScope: string | null;
  /** The query parameters that have to be sent, with their examples. */
  readonly requiredQuery: Readonly<Record<string, string>>;
  readonly hasBody: boolean;
  /** The request bodies that the contract shows. */
  readonly requestExamples: readonly unknown[];
  /** The body that the contract shows where it is no JSON; null for JSON and for none. */
  readonly rawExample: { readonly mediaType: string; readonly text: string } | null;
  /** The examples of its replies that have a name, as the contract shows them. */
  readonly namedReplies: readonly NamedReply[];
  /** The required headers, as the contract shows them. */
  readonly requiredHeaders: Readonly<Record<string, string>>;
  /** Whether the bearer token is the project API key. */
  readonly takesProjectApiKey: boolean;
}

export interface NamedReply {
  readonly status: number;
  readonly name: string;
  readonly value: unknown;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** Operations and what they may answer, as one document tells it. */
export interface Contract {
  readonly operations: readonly Operation[];
  /** The operation that a request is for; undefined when it is for none. */
  operationOf(method: string, path: string): Operation | undefined;
  /**
   * What is wrong with a reply to the operation, or null. Schemas are closed here: a field that the
   * contract does not name is a finding.
   */
  findFault(operation: Operation, reply: HttpReply): string | null;
}

/** Read here from the file, so that nothing of the service stands between it and the tests. */
export function readContract(): unknown {
  return parse(readFileSync(new URL('../openapi.yaml', import.meta.url), 'utf8'));
}

/** What the tests ask of a contract. The document is not changed. */
export function openContract(document: unknown): Contract {
  const operations = entriesOf(pick(document, 'paths')).flatMap(([path, item]) =>
    entriesOf(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => readOperation(document, path, method, operation)),
  );
  return {
    operations,
    operationOf: (method, path) => {
      const [bare = ''] = path.split('?');
      const matches = operations.filter(
        (operation) =>
          operation.method === method && operation.paths.some((template) => fits(template, bare)),
      );
      // A literal path goes before one with a parameter in the same place.
      return matches.find(({ path: template }) => !template.includes('{id}')) ?? matches[0];
    },
    findFault: createFaultFinder(document),
  };
}

export const { operations, operationOf, findFault } = openContract(readContract());

function createFaultFinder(document: unknown): Contract['findFault'] {
  const validators = new Map<string, ValidateFunction>();
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...recordOf(close(document, document)), $id: 'contract' });
  return (operation, reply) => {
    const found = pick(
      document,
      'paths',
      operation.path,
      operation.method.toLowerCase(),
      'responses',
    );
    const declared = pick(found, reply.status);
    if (declared === undefined) return `${operation.id} does not declare ${reply.status}`;
    const response = resolve(document, declared);
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
    const validate =
      validators.get(name) ?? ajv.compile(recordOf(pointInto(close(document, schema))));
    validators.set(name, validate);
    return validate(reply.body) ? null : `${ajv.errorsText(validate.errors)}: ${reply.text}`;
  };
}

function readOperation(
  document: unknown,
  path: string,
  method: string,
  operation: unknown,
): Operation {
  const parameters = entriesOf(pick(operation, 'parameters')).map(([, each]) =>
    resolve(document, each),
  );
  const required = parameters.filter(
    (each) => pick(each, 'in') === 'query' && pick(each, 'required') === true,
  );
  const aliases = pick(operation, 'x-alias-paths');
  const scope = pick(operation, 'x-required-scope');
  const shared = entriesOf(pick(document, 'paths', path, 'parameters')).map(([, each]) =>
    resolve(document, each),
  );
  const inPath = [...shared, ...parameters].filter((each) => pick(each, 'in') === 'path');
  const [raw] = entriesOf(pick(operation, 'requestBody', 'content')).filter(
    ([mediaType]) => mediaType !== 'application/json',
  );
  const content = pick(operation, 'requestBody', 'content', 'application/json');
  const example = pick(content, 'example');
  const headers = parameters.filter(
    (each) => pick(each, 'in') === 'header' && pick(each, 'required') === true,
  );
  return {
    id: String(pick(operation, 'operationId')),
    method: method.toUpperCase(),
    path,
    paths: [path, ...(Array.isArray(aliases) ? aliases.map(String) : [])],
    examplePath: inPath.reduce<string>(
      (filled, each) =>
        filled.replace(
          `{${pick(each, 'name')}}`,
          encodeURIComponent(String(pick(each, 'example'))),
        ),
      path,
    ),
    tag: String(pick(operation, 'tags', 0)),
    schemes: entriesOf(pick(operation, 'security')).flatMap(([, each]) =>
      Object.keys(recordOf(each)),
    ),
    requiredScope: scope === undefined ? null : String(scope),
    statuses: entriesOf(pick(operation, 'responses')).map(([status]) => Number(status)),
    requiredQuery: Object.fromEntries(
      required.map((each) => [String(pick(each, 'name')), String(pick(each, 'example'))]),
    ),
    hasBody: pick(operation, 'requestBody') !== undefined,
    requiredHeaders: Object.fromEntries(
      headers.map((header) => [String(pick(header, 'name')), String(pick(header, 'example'))]),
    ),
    takesProjectApiKey: pick(operation, 'security', 0, 'projectApiKey') !== undefined,
    rawExample:
      content !== undefined || raw === undefined
        ? null
        : { mediaType: raw[0], text: String(pick(raw[1], 'example')) },
    namedReplies: readNamedReplies(document, operation),
    requestExamples: [
      ...(example === undefined ? [] : [example]),
      ...entriesOf(pick(content, 'examples')).map(([, named]) => pick(named, 'value')),
    ],
  };
}

function readNamedReplies(document: unknown, operation: unknown): NamedReply[] {
  return entriesOf(pick(operation, 'responses')).flatMap(([status, declared]) =>
    entriesOf(pick(resolve(document, declared), 'content'))
      .flatMap(([, content]) => entriesOf(pick(content, 'examples')))
      .map(([name, example]) => {
        return { status: Number(status), name, value: pick(resolve(document, example), 'value') };
      }),
  );
}

function fits(template: string, path: string): boolean {
  const [expected, given] = [template, path].map((each) => each.replace(/\/$/, '').split('/'));
  if (expected === undefined || given?.length !== expected.length) return false;
  return expected.every((step, index) => step.startsWith('{') || step === given[index]);
}

/** The thing that a reference names, or the thing itself. */
function resolve(document: unknown, value: unknown): unknown {
  const reference = pick(value, '$ref');
  return typeof reference === 'string' ? pick(document, ...reference.split('/').slice(1)) : value;
}

/** A copy in which object schemas that name their properties allow no others. */
function close(document: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => close(document, item));
  if (typeof value !== 'object' || value === null) return value;
  const parts = pick(value, 'allOf');
  // Each part alone would refuse what the others allow, so they are closed as one schema.
  if (Array.isArray(parts)) return close(document, join(document, parts));
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, close(document, item)]),
  );
  const isNamed = copy.type === 'object' && copy.properties !== undefined;
  return isNamed ? { additionalProperties: false, ...copy, properties: propertiesOf(copy) } : copy;
}

/** The properties of an object schema, under the other names that they are sent under too. */
function propertiesOf(schema: unknown): Record<string, unknown> {
  const properties = recordOf(pick(schema, 'properties'));
  for (const [alias, name] of entriesOf(pick(schema, 'x-field-aliases'))) {
    properties[alias] = properties[String(name)];
  }
  return properties;
}

/** One object schema with the properties of several. */
function join(document: unknown, parts: readonly unknown[]): object {
  const schemas = parts.map((part) => resolve(document, part));
  const required = schemas.flatMap((schema) => Object.values(recordOf(pick(schema, 'required'))));
  const properties = schemas.map(propertiesOf);
  return { type: 'object', required, properties: Object.assign({}, ...properties) };
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

function recordOf(value: unknown): Record<string, unknown> {
  return Object.fromEntries(entriesOf(value));
}
