import { pick } from '../read.ts';

/** A contract that says something else than the service does. */
export interface BrokenContract {
  readonly what: string;
  /** The operation and status at which it has to be found. */
  readonly found: string;
  readonly document: unknown;
}

const FLAG = ['components', 'schemas', 'FeatureFlag'] as const;

/** Copies of the contract, each reduced to one path and damaged in one place. */
export function breakContract(document: unknown): readonly BrokenContract[] {
  const path = '/api/projects/{project_id}/feature_flags/{id}/';
  const damaged = (damage: (copy: unknown) => void) => {
    const copy: unknown = structuredClone(document);
    const item = pick(copy, 'paths', path);
    Reflect.set(objectAt(copy), 'paths', { [path]: { ...objectAt(item), put: undefined } });
    const clean: unknown = JSON.parse(JSON.stringify(copy));
    damage(clean);
    return clean;
  };
  return [
    {
      what: 'a renamed field',
      found: 'getFeatureFlag 200',
      document: damaged((copy) => {
        const properties = objectAt(pick(copy, ...FLAG, 'properties'));
        Reflect.set(properties, 'is_active', Reflect.get(properties, 'active'));
        Reflect.deleteProperty(properties, 'active');
      }),
    },
    {
      what: 'a wrong type',
      found: 'getFeatureFlag 200',
      document: damaged((copy) => {
        Reflect.set(objectAt(pick(copy, ...FLAG, 'properties', 'version')), 'type', 'string');
      }),
    },
    {
      what: 'a wrong status',
      found: 'getFeatureFlag 200',
      document: damaged((copy) => {
        const responses = objectAt(pick(copy, 'paths', path, 'get', 'responses'));
        // The statuses change places: what answers 200 is documented as 404, and the other way.
        const [ok, missing] = [Reflect.get(responses, '200'), Reflect.get(responses, '404')];
        Reflect.set(responses, '200', missing);
        Reflect.set(responses, '404', ok);
      }),
    },
  ];
}

function objectAt(value: unknown): object {
  if (typeof value !== 'object' || value === null)
    throw new Error('The contract has no such part.');
  return value;
}
