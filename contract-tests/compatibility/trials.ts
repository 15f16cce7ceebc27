import { pick, pickList } from '../read.ts';

/** A change to a copy of the contract, and what has to be found out about it. */
export interface Trial {
  readonly what: string;
  /** What oasdiff has to name, so that the trial cannot succeed for another reason. */
  readonly found: string;
  change(contract: unknown): void;
  /** Changes what was before, too, where the contract has no example of it. */
  prepare?(contract: unknown): void;
}

const LIST = ['paths', '/api/projects/{project_id}/feature_flags/', 'get'] as const;
const STATUS = '/api/projects/{project_id}/feature_flags/{id}/status/';
const EVALUATE = ['paths', '/flags', 'post'] as const;
const SCHEMAS = ['components', 'schemas'] as const;
const FLAG = [...SCHEMAS, 'FeatureFlag'] as const;
const VALUE = [...SCHEMAS, 'FlagValue'] as const;
const CREATE = [...SCHEMAS, 'FeatureFlagCreate', 'allOf', 1] as const;
const RUNTIMES = ['components', 'parameters', 'RuntimeFilter', 'schema', 'enum'] as const;

/** Changes after which some client that worked before does not work any more. */
export const BREAKING: readonly Trial[] = [
  {
    what: 'a removed operation',
    found: 'api-removed-without-deprecation',
    change: (contract) => remove(contract, 'paths', LIST[1], 'post'),
  },
  {
    what: 'a removed path',
    found: 'api-path-removed-without-deprecation',
    change: (contract) => remove(contract, 'paths', STATUS),
  },
  {
    what: 'the removal of what was deprecated',
    found: 'api-path-removed-with-deprecation',
    prepare: (contract) => set(contract, true, 'paths', STATUS, 'get', 'deprecated'),
    change: (contract) => remove(contract, 'paths', STATUS),
  },
  {
    what: 'a removed alias of a path',
    found: 'api-path-removed-without-deprecation',
    change: (contract) => {
      remove(contract, ...EVALUATE, 'x-alias-paths');
      remove(contract, ...EVALUATE.slice(0, 2), 'get', 'x-alias-paths');
    },
  },
  {
    what: 'a renamed field of replies',
    found: 'response-required-property-removed',
    change: (contract) => {
      rename(contract, 'active', 'is_active', ...FLAG, 'properties');
      const required = pickList(contract, ...FLAG, 'required');
      required[required.indexOf('active')] = 'is_active';
    },
  },
  {
    what: 'a renamed field that not every reply has',
    found: 'response-optional-property-removed',
    change: (contract) => rename(contract, 'conditions', 'rules', ...VALUE, 'properties'),
  },
  {
    what: 'a field that replies may lack from now on',
    found: 'response-property-became-optional',
    change: (contract) => pickList(contract, ...FLAG, 'required').shift(),
  },
  {
    what: 'another type of a field of replies',
    found: 'response-property-type-changed',
    change: (contract) => set(contract, 'string', ...FLAG, 'properties', 'version', 'type'),
  },
  {
    what: 'a new value among those that a field of replies may have',
    found: 'response-property-enum-value-added',
    change: (contract) =>
      pickList(contract, ...FLAG, 'properties', 'evaluation_runtime', 'enum').push('edge'),
  },
  {
    what: 'a new required field of requests',
    found: 'new-required-request-property',
    change: (contract) => {
      set(contract, { type: 'string' }, ...CREATE, 'properties', 'owner');
      pickList(contract, ...CREATE, 'required').push('owner');
    },
  },
  {
    what: 'a removed field of requests',
    found: 'request-property-removed',
    change: (contract) => remove(contract, ...SCHEMAS, 'BulkDelete', 'properties', 'ids'),
  },
  {
    what: 'a removed value of a parameter',
    found: 'request-parameter-enum-value-removed',
    change: (contract) => pickList(contract, ...RUNTIMES).pop(),
  },
  {
    what: 'a tighter limit',
    found: 'request-parameter-max-decreased',
    change: (contract) => set(contract, 1000, ...LIST, 'parameters', 0, 'schema', 'maximum'),
  },
  {
    what: 'another scope that a key needs',
    found: 'api-security-scope-added',
    change: (contract) => set(contract, 'feature_flag:write', ...LIST, 'x-required-scope'),
  },
  {
    what: 'a removed alias of a field',
    found: 'request-property-removed',
    change: (contract) =>
      remove(contract, ...SCHEMAS, 'EvaluateFlagsRequest', 'x-field-aliases', '$distinct_id'),
  },
  {
    what: 'another operationId, which generated clients name a function after',
    found: 'api-operation-id-removed',
    change: (contract) => set(contract, 'readAllFlags', ...LIST, 'operationId'),
  },
];

/** Changes that no client can stumble on. */
export const COMPATIBLE: readonly Trial[] = [
  {
    what: 'a new operation',
    found: 'endpoint-added',
    change: (contract) => {
      const responses = { 204: { description: 'Heard.' } };
      set(contract, { get: { operationId: 'hear', responses } }, 'paths', '/api/new/');
    },
  },
  {
    what: 'a new field of replies',
    found: 'response-optional-property-added',
    change: (contract) => set(contract, { type: 'string' }, ...FLAG, 'properties', 'owner'),
  },
  {
    what: 'a new field that requests may have',
    found: 'new-optional-request-property',
    change: (contract) => set(contract, { type: 'string' }, ...CREATE, 'properties', 'owner'),
  },
  {
    what: 'a new value of a parameter',
    found: 'request-parameter-enum-value-added',
    change: (contract) => pickList(contract, ...RUNTIMES).push('edge'),
  },
];

/** The two contracts of a trial: a copy as it was before, and a changed one. */
export function enact(trial: Trial, contract: unknown): { before: unknown; after: unknown } {
  const before: unknown = structuredClone(contract);
  trial.prepare?.(before);
  const after: unknown = structuredClone(before);
  trial.change(after);
  return { before, after };
}

type Path = readonly (string | number)[];

function set(contract: unknown, value: unknown, ...path: Path): void {
  Reflect.set(parentOf(contract, path), String(path.at(-1)), value);
}

function remove(contract: unknown, ...path: Path): void {
  const parent = parentOf(contract, path);
  const name = String(path.at(-1));
  if (!Object.hasOwn(parent, name)) throw new Error(`The contract has no ${path.join('.')}.`);
  Reflect.deleteProperty(parent, name);
}

function rename(contract: unknown, from: string, to: string, ...path: Path): void {
  set(contract, pick(contract, ...path, from), ...path, to);
  remove(contract, ...path, from);
}

function parentOf(contract: unknown, path: Path): object {
  const parent = pick(contract, ...path.slice(0, -1));
  if (typeof parent === 'object' && parent !== null) return parent;
  throw new Error(`The contract has no ${path.slice(0, -1).join('.')}.`);
}
