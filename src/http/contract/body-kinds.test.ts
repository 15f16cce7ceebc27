import type { OpenAPIV3 } from 'openapi-types';
import { describe, expect, it } from 'vitest';
import { readPackageFile } from '../../domain/common/package-root.ts';
import { readBodyKinds } from './body-kinds.ts';
import { readContract } from './contract-document.ts';

const ROW = {
  maxBytes: 6,
  maxUnpackedBytes: 5,
  maxRatio: 4,
  maxValues: 3,
  maxKeys: 2,
  maxDepth: 1,
};

function definitionWith(extensions: object): OpenAPIV3.Document {
  return { openapi: '3.0.3', info: { title: '', version: '' }, paths: {}, ...extensions };
}

describe('readBodyKinds', () => {
  it('reads each row of the table', () => {
    const definition = definitionWith({ 'x-body-bounds': { json: ROW, own: { ...ROW, more: 1 } } });
    expect([...readBodyKinds(definition)]).toEqual([
      ['json', ROW],
      ['own', ROW],
    ]);
  });

  it('throws when there is no table', () => {
    for (const extensions of [{}, { 'x-body-bounds': null }, { 'x-body-bounds': 7 }]) {
      expect(() => readBodyKinds(definitionWith(extensions))).toThrow('There is no x-body-bounds.');
    }
  });

  it.each(Object.keys(ROW))('throws when %s is missing, or is no number above zero', (name) => {
    for (const bound of [undefined, null, '5', 0, -1, Number.NaN]) {
      const table = { own: { ...ROW, [name]: bound } };
      expect(() => readBodyKinds(definitionWith({ 'x-body-bounds': table }))).toThrow(
        `The bound ${name} of own bodies is missing in x-body-bounds.`,
      );
    }
  });

  it('throws when a row is none', () => {
    for (const row of [null, 7, 'wide']) {
      const definition = definitionWith({ 'x-body-bounds': { own: row } });
      expect(() => readBodyKinds(definition)).toThrow('The bound maxBytes of own bodies');
    }
  });

  it("knows the kinds of Burgee's contract, none of which may unpack to less than is sent", () => {
    const kinds = readBodyKinds(readContract().definition);
    expect([...kinds.keys()]).toEqual(
      expect.arrayContaining(['json', 'text', 'evaluation', 'capture', 'batch', 'capture_v1']),
    );
    for (const { maxBytes, maxUnpackedBytes } of kinds.values()) {
      expect(maxUnpackedBytes).toBeGreaterThanOrEqual(maxBytes);
    }
  });

  it('has the rows that docs/limits.md tells', () => {
    const rows = [
      ...readPackageFile('docs/limits.md').matchAll(/^\| `(\w+)` \|.*?\| (\d.*) \|$/gm),
    ];
    const told = rows.map(([, kind, bounds]) => [kind, bounds?.split(' | ').map(Number)]);
    const kinds = [...readBodyKinds(readContract().definition)];
    expect(told).toEqual(kinds.map(([kind, bounds]) => [kind, Object.values(bounds)]));
  });
});
