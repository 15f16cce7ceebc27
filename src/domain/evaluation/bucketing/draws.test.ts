import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { DrawMaker } from './draws.ts';
import { hash } from './hash.ts';
import { type Salt, Sha1Lanes } from './sha1-lanes.ts';

const SALTS = ['', 'variant'] as const satisfies readonly Salt[];
/** Any 16-bit units, so that half surrogate pairs are among them. */
const anyText = (maxLength: number) =>
  fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 0x7f }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
        { weight: 1, arbitrary: fc.integer({ min: 0xd800, max: 0xdfff }) },
      ),
      { maxLength },
    )
    .map((units) => String.fromCharCode(...units));

describe('a draw', () => {
  it('has lanes where the tests run, so that what follows is about them', () => {
    expect(Sha1Lanes.create()).toBeInstanceOf(Sha1Lanes);
  });

  it('is the hash of prefix, identifier and salt, whatever was hashed before', () => {
    const lanes = Sha1Lanes.create();
    const identifiers = fc.array(anyText(130), { minLength: 1, maxLength: 6 });
    const prefixes = fc.array(anyText(70), { minLength: 1, maxLength: 9 });
    const steps = fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(
        prefixes,
        identifiers,
        fc.constantFrom(...SALTS),
        steps,
        (keys, ids, salt, all) => {
          const maker = new DrawMaker(lanes);
          const draws = keys.map((key) => maker.make(`${key}.`, salt, 'person'));
          for (const [drawAt, identifierAt] of all) {
            const key = keys[drawAt % keys.length] ?? '';
            const identifier = ids[identifierAt % ids.length] ?? '';
            const drawn = draws[drawAt % keys.length]?.hash(identifier);
            expect(drawn).toBe(hash(`${key}.${identifier}${salt}`));
          }
        },
      ),
      { numRuns: 1500 },
    );
  });

  it.each(SALTS)('is exact at every length of prefix and identifier, salt "%s"', (salt) => {
    const maker = new DrawMaker();
    const prefixes = Array.from({ length: 68 }, (_, at) => `${'k'.repeat(at)}.`);
    const draws = prefixes.map((prefix) => maker.make(prefix, salt, 'person'));
    const wrong: string[] = [];
    for (let length = 0; length <= 125; length++) {
      const identifier = 'é'.repeat(length % 3) + 'i'.repeat(length - (length % 3));
      for (const [at, prefix] of prefixes.entries()) {
        const isRight = draws[at]?.hash(identifier) === hash(prefix + identifier + salt);
        if (!isRight) wrong.push(`${prefix.length} + ${length}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is right when more prefixes are in use than are remembered', () => {
    const maker = new DrawMaker();
    const prefixes = Array.from({ length: 40_000 }, (_, at) => `flag-${at}.`);
    const draws = prefixes.map((prefix) => maker.make(prefix, '', 'person'));
    const find = (at: number) => draws[at]?.hash('a-person');
    const wrong = prefixes.filter((prefix, at) => find(at) !== hash(`${prefix}a-person`));
    expect(wrong).toEqual([]);
    // The first ones again: their place was taken by later ones.
    for (const at of [0, 16_384, 1, 16_385, 32_768, 2]) {
      expect(find(at)).toBe(hash(`flag-${at}.a-person`));
    }
  });

  it('is right when another one joins its group later', () => {
    const maker = new DrawMaker();
    const first = maker.make('first.', '', 'person');
    expect(first.hash('a-person')).toBe(hash('first.a-person'));
    const second = maker.make('second.', '', 'person');
    expect(second.hash('a-person')).toBe(hash('second.a-person'));
    expect(first.hash('a-person')).toBe(hash('first.a-person'));
  });

  it('is right for more identifiers than are remembered, in turns', () => {
    const draw = new DrawMaker().make('flag.', '', 'person');
    const identifiers = Array.from({ length: 20 }, (_, at) => `person-${at % 10}`);
    expect(identifiers.map((each) => draw.hash(each))).toEqual(
      identifiers.map((each) => hash(`flag.${each}`)),
    );
  });

  it('is made once for the same flag and kind of subject', () => {
    const maker = new DrawMaker();
    expect(maker.make('flag.', '', 'person')).toBe(maker.make('flag.', '', 'person'));
    expect(maker.make('flag.', '', 'person')).not.toBe(maker.make('flag.', 'variant', 'person'));
  });
});

describe('without lanes', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('draws are the same', () => {
    const maker = new DrawMaker(null);
    expect(maker.make('flag.', '', 'person').hash('a-person')).toBe(hash('flag.a-person'));
    expect(maker.make('flag.', 'variant', 'person').hash('ż')).toBe(hash('flag.żvariant'));
  });

  it.each([
    ['has no WebAssembly', undefined],
    [
      'refuses the instructions',
      {
        ...WebAssembly,
        Memory: WebAssembly.Memory,
        Module: class {
          constructor() {
            throw new Error('invalid opcode');
          }
        },
      },
    ],
  ])('is what a runtime runs that %s', (_, stub) => {
    vi.stubGlobal('WebAssembly', stub);
    expect(Sha1Lanes.create()).toBeNull();
  });
});
