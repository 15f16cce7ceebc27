import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonMeter } from './measure-json.ts';

/** What the meter counts: one, one for each container, and one for each member after its first. */
function countOf(value: unknown): number {
  return 1 + extraOf(value);
}

function extraOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inside = Object.values(value);
  return inside.reduce<number>((sum, each) => sum + extraOf(each), Math.max(1, inside.length));
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Feeds the text piece by piece; the pieces end at these places. */
function measure(
  text: string,
  ends: readonly number[],
  maxValues: number,
  maxDepth: number,
  maxKeys = 1e9,
) {
  const bytes = Buffer.from(text);
  const meter = new JsonMeter({ maxValues, maxKeys, maxDepth });
  const places = [...ends.map((end) => end % (bytes.length + 1)), bytes.length];
  let from = 0;
  for (const to of places.toSorted((a, b) => a - b)) {
    const fault = meter.feed(bytes, from, to);
    if (fault !== null) return fault.reason;
    from = to;
  }
  return null;
}

describe('JsonMeter', () => {
  it('counts values and levels, whatever pieces the text comes in', () => {
    const text = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.constantFrom('[', '"', '\\', '\\"', '{,', ','), { minLength: 1 }),
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 8 }), fc.boolean(), (value, ends, wide) => {
        const json = JSON.stringify(value, null, wide ? 1 : 0);
        const [values, depth] = [countOf(value), depthOf(value)];
        expect(measure(json, ends, values, depth)).toBeNull();
        expect(measure(json, ends, values - 1, depth)).toMatch(/holds more than/);
        if (depth > 0) {
          expect(measure(json, ends, values, depth - 1)).toMatch(/nested too deeply/);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('never counts fewer values than there are, but for one', () => {
    expect(countOf([1, 2, 3])).toBe(4);
    expect(measure('[1,2,3]', [], 4, 1)).toBeNull();
    expect(measure('[1,2,3]', [], 3, 1)).toBe('the JSON holds more than 3 values');
    expect(measure('[{},{},{}]', [], 6, 2)).toBe('the JSON holds more than 6 values');
  });

  it('counts objects and keys, and no colon inside of a text', () => {
    const text = '[{"a:b":":"},{},["::"]]';
    for (let end = 0; end <= text.length; end += 1) {
      expect(measure(text, [end], 100, 3, 3)).toBeNull();
      expect(measure(text, [end], 100, 3, 2)).toBe('the JSON holds more than 2 objects and keys');
    }
  });

  it('sees through an escape that stands at the end of a piece', () => {
    const text = '["a\\",[,[,[", 1]';
    for (let end = 0; end <= text.length; end += 1) {
      expect(measure(text, [end], 3, 1)).toBeNull();
      expect(measure(text, [end, end], 2, 1)).toBe('the JSON holds more than 2 values');
    }
  });

  it('tells what is too deep before it is read to its end', () => {
    const meter = new JsonMeter({ maxValues: 100, maxKeys: 100, maxDepth: 2 });
    expect(meter.feed(Buffer.from('[[['), 0, 3)?.reason).toBe('the JSON is nested too deeply');
  });
});
