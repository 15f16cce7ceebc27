import type { OpenAPIV3 } from 'openapi-types';
import type { BodyBounds } from '../decode/body-bounds.ts';

const NAMES = [
  'maxBytes',
  'maxUnpackedBytes',
  'maxRatio',
  'maxValues',
  'maxKeys',
  'maxDepth',
] as const;

/**
 * Reads the contract's table of how large a body may be, by kind of body. Throws when a bound is
 * missing or is no number above zero.
 */
export function readBodyKinds(definition: OpenAPIV3.Document): ReadonlyMap<string, BodyBounds> {
  const table: unknown = Reflect.get(definition, 'x-body-bounds');
  if (typeof table !== 'object' || table === null) throw new Error('There is no x-body-bounds.');
  return new Map(Object.entries(table).map(([kind, row]) => [kind, readRow(kind, row)]));
}

function readRow(kind: string, row: unknown): BodyBounds {
  const [maxBytes, maxUnpackedBytes, maxRatio, maxValues, maxKeys, maxDepth] = NAMES.map((name) => {
    const bound: unknown = typeof row === 'object' && row !== null ? Reflect.get(row, name) : null;
    if (typeof bound === 'number' && bound > 0) return bound;
    throw new Error(`The bound ${name} of ${kind} bodies is missing in x-body-bounds.`);
  });
  return {
    maxBytes: maxBytes ?? 0,
    maxUnpackedBytes: maxUnpackedBytes ?? 0,
    maxRatio: maxRatio ?? 0,
    maxValues: maxValues ?? 0,
    maxKeys: maxKeys ?? 0,
    maxDepth: maxDepth ?? 0,
  };
}
