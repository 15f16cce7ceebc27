import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { CompilePattern } from '../../evaluation/model/definitions.ts';
import { isList } from '../../targeting/filters-structure.ts';
import type { FeatureFlag, FeatureFlagInput } from '../model/flag-fields.ts';
import { openPayloads, sealPayloads } from '../payloads/encrypted-payloads.ts';
import type { PayloadCipher } from '../payloads/payload-encryption.ts';
import type { FlagLimits } from './flag-limits.ts';
import {
  normaliseFilters,
  refuseReservedKeys,
  requireCondition,
  requireSize,
  validateFilters,
} from './validate-filters.ts';

/** What validating and encrypting filters needs. */
export interface FiltersContext {
  readonly compilePattern: CompilePattern;
  /** Null when there is no encryption key; then no secret payload can be written or read. */
  readonly payloadCipher: PayloadCipher | null;
  readonly limits: FlagLimits;
}

/** The filters of a new flag, validated, and with secret payloads encrypted. */
export function prepareNewFilters(context: FiltersContext, input: FeatureFlagInput): JsonObject {
  const isRemoteConfiguration = input.isRemoteConfiguration === true;
  const sent = isRemoteConfiguration ? serveEverybody(input.filters ?? {}) : input.filters;
  if (sent === undefined) return prepareFilters(context, null, input) ?? { groups: [] };
  requireCondition(sent);
  return prepareFilters(context, null, { ...input, filters: sent }) ?? sent;
}

/**
 * The filters to store: merged, validated, and with secret payloads encrypted. Null when the
 * write leaves them as they are. `before` is the stored flag, null for a new one.
 */
export function prepareFilters(
  context: FiltersContext,
  before: FeatureFlag | null,
  input: FeatureFlagInput,
): JsonObject | null {
  const isEncrypted = input.hasEncryptedPayloads ?? before?.hasEncryptedPayloads ?? false;
  const isRemoteConfiguration =
    input.isRemoteConfiguration ?? before?.isRemoteConfiguration ?? false;
  const wasEncrypted = before?.hasEncryptedPayloads ?? false;
  const isAllowed = isRemoteConfiguration || !isEncrypted;
  const isUntouched = input.filters === undefined && isEncrypted === wasEncrypted && isAllowed;
  if (isUntouched) return null;
  const { compilePattern, limits } = context;
  if (input.filters !== undefined) {
    refuseReservedKeys(input.filters);
    // Before anything is made of them: too many would hold everybody up.
    requireSize(input.filters, limits.maxFiltersBytes);
  }
  // The rules look at payloads as clients see them, so a marker stands for each ciphertext.
  const stored = before === null ? { groups: [] } : openPayloads(before, null);
  const filters = normaliseFilters({ ...stored, ...input.filters });
  validateFilters(filters, { compilePattern, maxBytes: limits.maxFiltersBytes });
  return sealPayloads(
    {
      filters,
      isEncrypted,
      isRemoteConfiguration,
      before,
      hasSentFilters: input.filters !== undefined,
    },
    context.payloadCipher,
  );
}

/** A new remote configuration without a condition, or with one for nobody, is meant for everybody. */
function serveEverybody(filters: JsonObject): JsonObject {
  const groups = filters.groups ?? [];
  if (!isList(groups)) return filters;
  if (groups.length === 0) {
    return { ...filters, groups: [{ properties: [], rollout_percentage: 100, variant: null }] };
  }
  return { ...filters, groups: groups.map(rollOut) };
}

function rollOut(group: JsonValue): JsonValue {
  if (!isJsonObject(group)) return group;
  const isForNobody = (group.rollout_percentage ?? 0) === 0;
  return isForNobody ? { ...group, rollout_percentage: 100 } : group;
}
