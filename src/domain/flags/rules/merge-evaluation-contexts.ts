import { invalidField } from '../../common/refusal.ts';
import { type FeatureFlagInput, wireNameOf } from '../model/flag-fields.ts';

const MAX_CONTEXTS = 50;
const MAX_LENGTH = 255;

type Field = 'evaluationTags' | 'evaluationContexts';

/**
 * The input with the evaluation contexts under one name, trimmed, in lower case and each once.
 *
 * Clients know them as `evaluation_tags` or as `evaluation_contexts`. One that sends a flag back
 * whole sends both, and means the one that it changed; if it changed both, the newer name counts.
 * Throws 400.
 */
export function mergeEvaluationContexts(
  input: FeatureFlagInput,
  stored: readonly string[],
): FeatureFlagInput {
  const { evaluationContexts: sent, ...kept } = input;
  const contexts = sent === undefined ? undefined : normalise('evaluationContexts', sent);
  const tags =
    input.evaluationTags === undefined
      ? undefined
      : normalise('evaluationTags', input.evaluationTags);
  const isContextsChanged = contexts !== undefined && !isSameSet(contexts, stored);
  const merged = isContextsChanged ? contexts : (tags ?? contexts);
  return merged === undefined ? kept : { ...kept, evaluationTags: merged };
}

function normalise(field: Field, names: readonly string[]): string[] {
  const wireName = wireNameOf(field);
  if (names.length > MAX_CONTEXTS) {
    throw invalidField(wireName, `${wireName} must be a list of at most ${MAX_CONTEXTS} items.`);
  }
  const normalised = names.map((name) => name.trim().toLowerCase());
  if (normalised.some((name) => name === '' || name.length > MAX_LENGTH)) {
    throw invalidField(wireName, 'Invalid evaluation context name.');
  }
  return [...new Set(normalised)];
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((name) => right.includes(name));
}
