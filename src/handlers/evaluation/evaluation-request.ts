import { isJsonObject, type JsonObject } from '../../domain/common/json.ts';
import type { EvaluationContext } from '../../domain/evaluation/model/context.ts';
import type { Body, RequestOrigin } from '../../operations/operation.ts';
import { readRuntime } from './request-runtime.ts';

type EvaluationBody = Body<'evaluateFlags'>;

/** A request to evaluate. */
export interface EvaluationInput {
  readonly token: string | null;
  /** Null when the request names nobody; the empty text is a name. */
  readonly distinctId: string | null;
  readonly flagKeys: readonly string[] | null;
  readonly isDisabled: boolean;
  /** The context for a distinct id, nothing stored looked up yet. */
  readonly contextFor: (distinctId: string) => EvaluationContext;
}

const DISTINCT_ID_MAX_BYTES = 200;
const DISTINCT_ID_MAX_CHARACTERS = 200;

/** Reads the body of an evaluation request; null counts as absent everywhere. */
export function readEvaluationInput(
  body: EvaluationBody,
  headers: RequestOrigin['headers'],
): EvaluationInput {
  const { person_properties: personProperties, groups } = body;
  const overrides = isJsonObject(personProperties) ? personProperties : {};
  return {
    token: firstText(body.token, body.api_key),
    distinctId: readDistinctId(body.distinct_id),
    flagKeys: body.flag_keys_to_evaluate ?? null,
    isDisabled: body.disable_flags === true,
    contextFor: (distinctId) => ({
      distinctId,
      deviceId: firstText(body.$device_id, overrides.$device_id),
      anonDistinctId: firstText(body.$anon_distinct_id),
      personProperties: overrides,
      groups: isJsonObject(groups) ? groups : {},
      groupProperties: objectsOf(body.group_properties),
      runtime: readRuntime(body.evaluation_runtime, headers),
      evaluationContexts: body.evaluation_contexts ?? [],
      stored: null,
    }),
  };
}

/** Numbers count as their JSON text; a long id counts as its first characters. */
function readDistinctId(value: unknown): string | null {
  if (typeof value === 'number') return JSON.stringify(value);
  if (typeof value !== 'string') return null;
  if (Buffer.byteLength(value) <= DISTINCT_ID_MAX_BYTES) return value;
  return [...value].slice(0, DISTINCT_ID_MAX_CHARACTERS).join('');
}

function firstText(...values: readonly unknown[]): string | null {
  for (const value of values) if (typeof value === 'string' && value !== '') return value;
  return null;
}

function objectsOf(value: unknown): Record<string, JsonObject> {
  if (!isJsonObject(value)) return {};
  const objects = Object.entries(value).flatMap(([name, properties]) =>
    isJsonObject(properties) ? [[name, properties] as const] : [],
  );
  return Object.fromEntries(objects);
}
