import type { OpenAPIV3 } from 'openapi-types';
import { replyName } from './compiled-contract.ts';
import { readFieldAliases } from './read-field-aliases.ts';

/** The schema of each JSON reply, by operation and status, references in place. */
export function collectReplySchemas(definition: OpenAPIV3.Document): Map<string, object> {
  const schemas = new Map<string, object>();
  for (const path of Object.values(definition.paths)) {
    for (const operation of Object.values(path ?? {})) {
      if (typeof operation !== 'object' || !('responses' in operation)) continue;
      for (const [status, response] of Object.entries(operation.responses)) {
        const found = '$ref' in response ? resolveResponse(definition, response.$ref) : response;
        const schema = found?.content?.['application/json']?.schema;
        if (schema !== undefined)
          schemas.set(replyName(operation.operationId ?? '', status), schema);
      }
    }
  }
  return schemas;
}

function resolveResponse(
  definition: OpenAPIV3.Document,
  reference: string,
): OpenAPIV3.ResponseObject | undefined {
  const found = definition.components?.responses?.[reference.split('/').at(-1) ?? ''];
  return found === undefined || '$ref' in found ? undefined : found;
}

/**
 * The value with every object schema that names its properties closed, and with references that
 * point into the contract. Free-form objects, which say `additionalProperties`, stay as they are.
 */
export function closeSchemas(
  value: unknown,
  definition: OpenAPIV3.Document,
): Record<string, unknown> {
  const closed = close(value, definition);
  return isRecord(closed) ? closed : {};
}

function close(value: unknown, definition: OpenAPIV3.Document): unknown {
  if (Array.isArray(value)) return value.map((item) => close(item, definition));
  if (!isRecord(value)) return value;
  if (typeof value.$ref === 'string') return { $ref: `contract${value.$ref}` };
  if (Array.isArray(value.allOf)) return close(joinParts(value.allOf, definition), definition);
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, close(item, definition)]),
  );
  const isNamed = value.type === 'object' && isRecord(value.properties);
  return isNamed && !('additionalProperties' in value)
    ? {
        ...copy,
        properties: close(propertiesOf(value), definition),
        additionalProperties: false,
      }
    : copy;
}

/** The properties of an object schema, under the other names that they are sent under too. */
function propertiesOf(schema: Record<string, unknown>): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? { ...schema.properties } : {};
  for (const [alias, name] of readFieldAliases(schema)) properties[alias] = properties[name];
  return properties;
}

/** One object schema for several: closed one by one, each would refuse what the others allow. */
function joinParts(parts: readonly unknown[], definition: OpenAPIV3.Document): object {
  const schemas = parts.filter(isRecord).map((part) => resolveSchema(part, definition));
  return {
    type: 'object',
    required: schemas.flatMap(({ required }) => (Array.isArray(required) ? required : [])),
    properties: Object.assign({}, ...schemas.map(propertiesOf)),
  };
}

function resolveSchema(
  part: Record<string, unknown>,
  definition: OpenAPIV3.Document,
): Record<string, unknown> {
  if (typeof part.$ref !== 'string') return part;
  const found = definition.components?.schemas?.[part.$ref.split('/').at(-1) ?? ''];
  return isRecord(found) ? found : {};
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
