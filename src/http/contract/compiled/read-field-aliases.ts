/** The other names of fields that a schema lists under `x-field-aliases`. */
export function readFieldAliases(schema: unknown): ReadonlyMap<string, string> {
  if (typeof schema !== 'object' || schema === null) return NONE;
  const listed: unknown = Reflect.get(schema, 'x-field-aliases');
  if (typeof listed !== 'object' || listed === null) return NONE;
  return new Map(Object.entries(listed).map(([alias, name]) => [alias, String(name)]));
}

const NONE: ReadonlyMap<string, string> = new Map();
