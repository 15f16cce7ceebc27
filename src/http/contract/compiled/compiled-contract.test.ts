import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createTemporaryFolder } from '../../../../test/temporary-folder.ts';
import { readPackageFile } from '../../../domain/common/package-root.ts';
import { compileContract } from './compile-contract.ts';
import type { CompiledContract } from './compiled-contract.ts';
import { readCompiledContract } from './read-compiled-contract.ts';
import { writeCompiledContract } from './write-compiled-contract.ts';

const YAML = readPackageFile('openapi.yaml');
const folder = createTemporaryFolder();
await writeCompiledContract(folder.path, YAML);
const here = await compileContract(parse(YAML));
const stored = readStored();
const { operations } = here;

afterAll(() => {
  folder.remove();
});

describe('a compiled contract', () => {
  it('has the operations of the contract', () => {
    expect(operations.length).toBeGreaterThan(50);
    expect(stored.operations).toEqual(JSON.parse(JSON.stringify(operations)));
  });

  it('has the document of the contract', () => {
    expect(JSON.parse(stored.readJson())).toEqual(parse(YAML));
  });

  it('is of one contract only', () => {
    expect(readCompiledContract(folder.path, `${YAML}\n`)).toBeNull();
    expect(readCompiledContract(`${folder.path}/missing`, YAML)).toBeNull();
  });

  it('has no validators of an operation that is unknown', () => {
    expect(stored.requestValidatorsOf('toString')).toEqual([]);
    expect(stored.replyValidatorOf('toString', 200)).toBeUndefined();
  });
});

describe('validators that the build wrote', () => {
  it.each(operations.map(({ operationId = '' }) => operationId))(
    'find the same in requests as those that are compiled where they are used: %s',
    (operationId) => {
      const samples = samplesOf(operationId);
      for (const sample of samples) expectSame(operationId, sample);
      fc.assert(
        fc.property(fc.constantFrom(...samples), mutationArbitrary, (sample, mutation) => {
          expectSame(operationId, mutate(sample, mutation));
        }),
        { numRuns: 60 },
      );
    },
  );

  it('find the same in replies', () => {
    let checked = 0;
    for (const { operationId, status, example } of repliesOf(parse(YAML))) {
      for (const reply of [
        example,
        { ...Object(example), undocumented: 1 },
        null,
        {},
        [],
        'text',
      ]) {
        const findings = [here, stored].map((contract) => {
          const validate = contract.replyValidatorOf(operationId, status);
          return validate === undefined || validate(reply) ? null : validate.errors;
        });
        expect(findings[1]).toEqual(findings[0]);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(200);
  });

  it('find a request that breaks the contract, with the value that does', () => {
    const parts = { path: {}, query: {}, header: {}, cookie: {}, requestBody: { key: 7 } };
    const findings = stored
      .requestValidatorsOf('createFeatureFlag')
      .flatMap((validate) => (validate(parts) ? [] : (validate.errors ?? [])));
    expect(findings).toMatchObject([
      { keyword: 'type', instancePath: '/requestBody/key', data: 7 },
      { keyword: 'required', instancePath: '/path', data: {} },
    ]);
  });

  it('find a reply that breaks the contract', () => {
    const validate = stored.replyValidatorOf('listFeatureFlags', 200);
    expect(validate?.({ count: 'many' })).toBe(false);
    expect(validate?.errors).toHaveLength(1);
  });
});

function readStored() {
  const contract = readCompiledContract(folder.path, YAML);
  if (contract === null) throw new Error('The compiled contract cannot be read.');
  return contract;
}

/** What both ways make of a request: the findings, and the request with the contract's types. */
function expectSame(operationId: string, sample: unknown): void {
  const judge = (contract: CompiledContract) =>
    contract.requestValidatorsOf(operationId).map((validate) => {
      const parts = structuredClone(sample);
      return { fits: validate(parts), errors: validate.errors ?? null, parts };
    });
  expect(judge(stored)).toEqual(judge(here));
}

/** Requests to begin with: nothing, empty parts, and each example of the body. */
function samplesOf(operationId: string): unknown[] {
  const operation = operations.find((each) => each.operationId === operationId);
  const parameters = (operation?.parameters ?? []).filter((parameter) => 'in' in parameter);
  const partOf = (place: string) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, example = '1' }) => [name.toLowerCase(), String(example)]),
    );
  const parts = {
    path: partOf('path'),
    query: partOf('query'),
    header: partOf('header'),
    cookie: {},
  };
  const body = operation?.requestBody;
  const media = body !== undefined && 'content' in body ? body.content['application/json'] : {};
  const examples = Object.values(media?.examples ?? {}).map((example) =>
    'value' in example ? example.value : null,
  );
  const bodies = [undefined, null, {}, [], 'text', 1, media?.example, ...examples];
  return [{}, ...bodies.map((requestBody) => ({ ...parts, requestBody }))];
}

const VALUES = [null, true, 0, -1, 1.5, 1e300, '', 'a b', 'x'.repeat(500), '2026-01-01', [], {}];

/** Steps into a value, each by the number of a key, and what to put there. */
const mutationArbitrary = fc.record({
  steps: fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 8 }),
  value: fc.oneof(fc.constantFrom(...VALUES), fc.jsonValue({ maxDepth: 2 })),
  action: fc.constantFrom('replace', 'remove', 'add'),
});

type Mutation = typeof mutationArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

/** The value with one of its parts replaced or removed, or one added beside it. */
function mutate(sample: unknown, { steps, value, action }: Mutation): unknown {
  const [step = 0, ...rest] = steps;
  if (typeof sample !== 'object' || sample === null) return value;
  const entries = Object.entries(sample);
  const picked = entries[step % (entries.length + 1)];
  if (picked === undefined) return entries.length === 0 ? value : sample;
  const [key, part] = picked;
  const isDeeper = rest.length > 0 && typeof part === 'object' && part !== null;
  const changed = new Map(entries);
  if (isDeeper) changed.set(key, mutate(part, { steps: rest, value, action }));
  else if (action === 'remove') changed.delete(key);
  else changed.set(action === 'add' ? `${key}x` : key, value);
  return Array.isArray(sample) ? [...changed.values()] : Object.fromEntries(changed);
}

/** The example of each JSON reply in the document, and a reply without one. */
function repliesOf(document: unknown) {
  const found: { operationId: string; status: number; example: unknown }[] = [];
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return;
    const id: unknown = Reflect.get(value, 'operationId');
    const responses: unknown = Reflect.get(value, 'responses');
    if (typeof id === 'string' && typeof responses === 'object' && responses !== null) {
      for (const [status, response] of Object.entries(responses)) {
        const example: unknown = response?.content?.['application/json']?.example ?? {};
        found.push({ operationId: id, status: Number(status), example });
      }
      return;
    }
    Object.values(value).forEach(visit);
  };
  visit(document);
  return found;
}
