import type { AudienceCounter } from '../../domain/audience/audience-counter.ts';
import { UncountableFilters } from '../../domain/audience/audience-filters.ts';
import { prepareAudience } from '../../domain/audience/prepare-audience.ts';
import { isJsonObject, type JsonObject } from '../../domain/common/json.ts';
import { invalidField, notFound } from '../../domain/common/refusal.ts';
import type { CompilePattern } from '../../domain/evaluation/model/definitions.ts';
import { propertiesOf } from '../../domain/flags/model/flag.ts';
import type { FlagLimits } from '../../domain/flags/rules/flag-limits.ts';
import {
  type FilterRules,
  normaliseFilters,
  validateFilters,
} from '../../domain/flags/rules/validate-filters.ts';
import type { SnapshotStore } from '../../domain/snapshots/snapshot-store.ts';
import type { Handlers } from '../../operations/operation.ts';
import { refuseUnstorableText } from '../common/unstorable-text.ts';

export interface BlastRadiusContext {
  readonly snapshots: SnapshotStore;
  readonly countAudience: AudienceCounter;
  readonly compilePattern: CompilePattern;
  readonly limits: FlagLimits;
  readonly now: () => Date;
}

/** The operation that counts whom a condition would reach. */
export function createBlastRadiusHandlers(
  context: BlastRadiusContext,
): Pick<Handlers, 'getBlastRadius'> {
  return {
    async getBlastRadius({ body, access, reply }) {
      refuseUnstorableText(body);
      if (body.condition === undefined) {
        throw invalidField(null, 'Missing condition for which to get blast radius');
      }
      const groupTypeIndex = body.group_type_index ?? null;
      const { compilePattern, limits } = context;
      const rules = { compilePattern, maxBytes: limits.maxFiltersBytes };
      const properties = readProperties(body.condition, groupTypeIndex, rules);
      const served = await context.snapshots.getByProjectId(access.projectId);
      if (served === undefined) throw notFound('Project not found.');
      try {
        const { snapshot } = served;
        const audience = prepareAudience(properties, groupTypeIndex, snapshot, compilePattern);
        const { affected, total } = await context.countAudience(snapshot, audience, context.now());
        return reply(200, { users_affected: affected, total_users: total, affected, total });
      } catch (error) {
        if (!(error instanceof UncountableFilters)) throw error;
        throw invalidField('filters', 'These filters cannot be evaluated.');
      }
    },
  };
}

/** The property filters of the condition, held to the rules of flags. Nothing else of it counts. */
function readProperties(
  condition: unknown,
  groupTypeIndex: number | null,
  rules: FilterRules,
): JsonObject[] {
  const properties = isJsonObject(condition) ? (condition.properties ?? []) : [];
  const filters = normaliseFilters({
    groups: [{ properties, aggregation_group_type_index: groupTypeIndex }],
  });
  validateFilters(filters, rules);
  const [normal] = Array.isArray(filters.groups) ? filters.groups : [];
  return isJsonObject(normal) ? propertiesOf(normal) : [];
}
