import type { Operation } from './contract.ts';
import type { RequestOptions } from './http.ts';
import { fillExample } from './operations/world.ts';
import { PROJECT_API_KEY, type StartedBurgee } from './start-burgee.ts';
import { fillPath, storeExamples } from './subjects.ts';

/** What is special about a request that lets an operation succeed. */
interface Special {
  /** Instead of the contract's example. */
  readonly body?: unknown;
  /** A body that is no JSON, and what it is. */
  readonly raw?: string;
  readonly mediaType?: string;
  /** Besides the required parameters, which have the contract's examples. */
  readonly query?: Readonly<Record<string, string>>;
  /** What has to be there again before each request. */
  readonly prepare?: (burgee: StartedBurgee) => Promise<void>;
  /** The status of an operation that never succeeds. */
  readonly status?: number;
}

/**
 * The operations for which the contract's examples do not say enough, by operationId. Nothing has
 * to be written here as long as the examples are requests that work.
 */
const specials: Readonly<Record<string, Special>> = {
  deleteFeatureFlag: { status: 405 },
  deleteCohort: { status: 405 },
  captureEventByQuery: {
    query: {
      data: JSON.stringify({ api_key: PROJECT_API_KEY, event: 'seen', distinct_id: 'user-42' }),
    },
  },
  discardTelemetry: { raw: '{}', mediaType: 'application/json' },
  uploadCohortMembers: { raw: 'distinct_id\nuser-42\n', mediaType: 'text/csv' },
  // A key can hand on nothing that it does not hold, and some of them hold just this.
  createPersonalApiKey: { body: { label: 'handed on', scopes: ['personal_api_key:read'] } },
  deleteGroup: { prepare: storeExamples },
};

/** A request to an operation that works when it is made with a good key. */
export interface MinimalRequest {
  readonly path: string;
  readonly options: RequestOptions;
  /** Whether a status is what such a request is answered with. */
  readonly succeeds: (status: number) => boolean;
}

let unique = 500_000;

/**
 * A request to the operation on project 1, made from the examples of the contract, on things that
 * are made for it. Throws with what is missing when that is not enough.
 */
export async function createMinimalRequest(
  burgee: StartedBurgee,
  operation: Operation,
): Promise<MinimalRequest> {
  const { id, path, requiredQuery } = operation;
  const special = specials[id] ?? {};
  await special.prepare?.(burgee);
  unique += 1;
  const { headers, ...body } = bodyOf(operation, special);
  for (const [name, example] of Object.entries(requiredQuery)) {
    if (example === 'undefined') throw new Error(`${id} shows no example of ${name}.`);
  }
  return {
    path: await fillPath(burgee, path),
    options: {
      query: { ...requiredQuery, ...special.query },
      headers: { ...operation.requiredHeaders, ...headers },
      ...body,
    },
    succeeds: (status) =>
      special.status === undefined ? status >= 200 && status < 300 : status === special.status,
  };
}

function bodyOf({ id, hasBody, requestExamples }: Operation, special: Special): RequestOptions {
  if (special.body !== undefined) return { body: special.body };
  if (special.raw !== undefined) {
    return { raw: special.raw, headers: { 'content-type': special.mediaType ?? '' } };
  }
  if (!hasBody) return {};
  const [example] = requestExamples;
  if (example === undefined) {
    throw new Error(`Say in minimal-requests.ts what body ${id} takes.`);
  }
  return { body: JSON.parse(fillExample(JSON.stringify(example), unique)) };
}
