import { pick } from '../read.ts';

/**
 * A copy of a contract that says in OpenAPI's own words what ours says in extensions, so that a tool
 * which does not know them compares it, too: `x-alias-paths` become paths, `x-required-scope` the
 * scope of a personal API key, and `x-field-aliases` properties.
 */
export function spellOut(document: unknown): unknown {
  const copy: unknown = structuredClone(document);
  for (const [, schema] of objectsIn(pick(copy, 'components', 'schemas'))) spellOutFields(schema);
  const paths = pick(copy, 'paths');
  for (const [, item] of objectsIn(paths)) {
    for (const [method, operation] of objectsIn(item)) {
      spellOutScope(operation);
      for (const alias of listOf(pick(operation, 'x-alias-paths'))) {
        const parameters = pick(item, 'parameters') ?? [];
        const target = { parameters, ...objectOf(pick(paths, alias)), [method]: operation };
        Reflect.set(objectOf(paths), alias, target);
      }
    }
  }
  return copy;
}

function spellOutScope(operation: object): void {
  const scope = pick(operation, 'x-required-scope');
  if (typeof scope !== 'string') return;
  for (const [, requirement] of objectsIn(pick(operation, 'security'))) {
    if (Object.hasOwn(requirement, 'personalApiKey')) {
      Reflect.set(requirement, 'personalApiKey', [scope]);
    }
  }
}

function spellOutFields(schema: object): void {
  const properties = pick(schema, 'properties');
  for (const [alias, field] of Object.entries(objectOf(pick(schema, 'x-field-aliases')))) {
    const described = pick(properties, String(field));
    if (described !== undefined) Reflect.set(objectOf(properties), alias, described);
  }
}

function objectsIn(value: unknown): [string, object][] {
  return Object.entries(objectOf(value)).flatMap(([key, item]): [string, object][] =>
    typeof item === 'object' && item !== null ? [[key, item]] : [],
  );
}

function objectOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
