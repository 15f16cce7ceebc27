import { entriesOf, pick } from './read.ts';

/** A link as a reply of the contract declares it. */
export interface Link {
  /** Where it is declared: the operationId, the status, and its name there. */
  readonly source: string;
  readonly status: string;
  readonly name: string;
  /** The operationId of what it leads to. */
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly hasBody: boolean;
}

interface LinkedOperation {
  readonly id: string;
  readonly definition: unknown;
  readonly parameters: readonly { readonly name: string; readonly place: string }[];
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];
const EXPRESSION = /^\$(request|response)\.(?:body#(\/.*)|(path|query)\.(.+))$/;

/** Every link of a contract, those of shared replies once for each operation that sends them. */
export function linksOf(document: unknown): readonly Link[] {
  return operationsOf(document).flatMap(({ id, definition }) =>
    entriesOf(pick(definition, 'responses')).flatMap(([status, declared]) =>
      entriesOf(pick(resolve(document, declared), 'links')).map(([name, named]) => {
        const link = resolve(document, named);
        return {
          source: id,
          status,
          name,
          target: String(pick(link, 'operationId')),
          parameters: Object.fromEntries(entriesOf(pick(link, 'parameters'))),
          hasBody: pick(link, 'requestBody') !== undefined,
        };
      }),
    ),
  );
}

/**
 * What is wrong with the links of a contract: a target that does not exist, a parameter that the
 * target does not have, one in its path that is left out, an expression that names nothing, or a
 * body, which some generators read as text only.
 */
export function findLinkFaults(document: unknown): readonly string[] {
  const operations = operationsOf(document);
  return linksOf(document).flatMap((link) => {
    const at = `${link.source} ${link.status} ${link.name}`;
    const source = operations.find(({ id }) => id === link.source);
    const target = operations.find(({ id }) => id === link.target);
    if (source === undefined || target === undefined) return [`${at}: no operation ${link.target}`];
    const names = target.parameters.map(({ name }) => name);
    const given = Object.keys(link.parameters);
    const missing = target.parameters.filter(
      ({ name, place }) => place === 'path' && !given.includes(name),
    );
    return [
      ...given.filter((name) => !names.includes(name)).map((name) => `${at}: no parameter ${name}`),
      ...missing.map(({ name }) => `${at}: ${name} is left out`),
      ...(link.hasBody ? [`${at}: has a body`] : []),
      ...expressionsOf(link.parameters)
        .filter((expression) => !leadsSomewhere(document, source, link.status, expression))
        .map((expression) => `${at}: ${expression} names nothing`),
    ];
  });
}

/** The values of a link for one exchange; a value that the exchange does not have is undefined. */
export function evaluateLink(value: unknown, request: object, response: object): unknown {
  if (Array.isArray(value)) return value.map((item) => evaluateLink(item, request, response));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [name, evaluateLink(item, request, response)]),
    );
  }
  const [, side, pointer, place, name] = EXPRESSION.exec(String(value)) ?? [];
  if (side === undefined) return value;
  const exchange = side === 'request' ? request : response;
  return pointer === undefined
    ? pick(exchange, place ?? '', name ?? '')
    : pick(exchange, 'body', ...pointer.slice(1).split('/'));
}

function expressionsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('$') ? [value] : [];
  return entriesOf(value).flatMap(([, item]) => expressionsOf(item));
}

function leadsSomewhere(
  document: unknown,
  source: LinkedOperation,
  status: string,
  expression: string,
): boolean {
  const [, side, pointer, place, name] = EXPRESSION.exec(expression) ?? [];
  if (side === undefined) return false;
  if (pointer === undefined) {
    return source.parameters.some((each) => each.name === name && each.place === place);
  }
  const holder =
    side === 'request'
      ? pick(source.definition, 'requestBody')
      : resolve(document, pick(source.definition, 'responses', status));
  const schema = pick(holder, 'content', 'application/json', 'schema');
  return hasPointer(document, schema, pointer.slice(1).split('/'));
}

/** Whether values of the schema can have something there; free-form objects can. */
function hasPointer(document: unknown, given: unknown, steps: readonly string[]): boolean {
  const schema = resolve(document, given);
  const [step, ...rest] = steps;
  if (schema === undefined) return false;
  if (step === undefined) return true;
  const parts = [...entriesOf(pick(schema, 'allOf')), ...entriesOf(pick(schema, 'anyOf'))];
  if (parts.some(([, part]) => hasPointer(document, part, steps))) return true;
  if (pick(schema, 'type') === 'array') {
    return /^\d+$/.test(step) && hasPointer(document, pick(schema, 'items'), rest);
  }
  if (pick(schema, 'additionalProperties') === true) return true;
  return hasPointer(document, pick(schema, 'properties', step), rest);
}

function operationsOf(document: unknown): readonly LinkedOperation[] {
  return entriesOf(pick(document, 'paths')).flatMap(([, item]) =>
    entriesOf(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([, definition]) => ({
        id: String(pick(definition, 'operationId')),
        definition,
        parameters: [item, definition]
          .flatMap((holder) => entriesOf(pick(holder, 'parameters')))
          .map(([, each]) => resolve(document, each))
          .map((each) => ({ name: String(pick(each, 'name')), place: String(pick(each, 'in')) })),
      })),
  );
}

function resolve(document: unknown, value: unknown): unknown {
  const reference = pick(value, '$ref');
  return typeof reference === 'string' ? pick(document, ...reference.split('/').slice(1)) : value;
}
