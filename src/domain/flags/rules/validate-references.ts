import { listCohortDefinitions } from '../../cohorts/cohorts-queries.ts';
import type { JsonObject, JsonValue } from '../../common/json.ts';
import type { Tx } from '../../database/db.ts';
import { filtersError } from '../../targeting/filters-structure.ts';
import { pythonRepr } from '../../targeting/python-text.ts';
import { listDependencyLinks, listNamedFlags } from '../list/flag-dependencies-queries.ts';
import { cohortReferences, findEventCohort } from '../model/cohort-references.ts';
import { dependencyReferences, findCycle, toFlagId } from '../model/flag-dependencies.ts';

/** The flag whose filters are checked; its id is null while it is not stored. */
interface Subject {
  readonly projectId: number;
  readonly id: number | null;
  readonly key: string;
}

/**
 * Validates that every cohort and every flag that the filters refer to exists and can be evaluated.
 * Throws 400 on the field `filters`. Runs inside `changeProject`, whose lock keeps them unchanged.
 */
export async function validateReferences(
  tx: Tx,
  subject: Subject,
  filters: JsonObject,
): Promise<void> {
  await validateCohorts(tx, subject.projectId, cohortReferences(filters));
  await validateDependencies(tx, subject, dependencyReferences(filters));
}

async function validateCohorts(
  tx: Tx,
  projectId: number,
  references: readonly JsonValue[],
): Promise<void> {
  if (references.length === 0) return;
  const all = await listCohortDefinitions(tx, projectId);
  const cohorts = new Map(all.map((cohort) => [cohort.id, cohort]));
  for (const reference of references) {
    const cohort = typeof reference === 'number' ? cohorts.get(reference) : undefined;
    if (cohort === undefined) {
      const shown = typeof reference === 'string' ? reference : pythonRepr(reference);
      throw filtersError(`Cohort with id ${shown} does not exist`, 'cohort_does_not_exist');
    }
    const onEvents = findEventCohort(cohort, cohorts);
    if (onEvents !== null) {
      throw filtersError(
        `Cohort '${onEvents.name}' with filters on events cannot be used in feature flags.`,
        'behavioral_cohort_found',
      );
    }
  }
}

async function validateDependencies(
  tx: Tx,
  subject: Subject,
  references: readonly string[],
): Promise<void> {
  if (references.length === 0) return;
  const ids = references.map((reference) => requireFlagId(reference));
  const named = await listNamedFlags(tx, subject.projectId, ids);
  const found = new Map(named.map((flag) => [flag.id, flag]));
  for (const id of ids) {
    if (id === subject.id) {
      throw filtersError(`Feature flag '${subject.key}' cannot depend on itself`);
    }
    const flag = found.get(id);
    if (flag === undefined) {
      throw filtersError(`Flag dependency references non-existent flag with ID ${id}`);
    }
    if (!flag.active) {
      throw filtersError(
        `Cannot create dependency on disabled flag '${flag.key}' (ID: ${id}). ` +
          'Flag dependencies must reference active flags only.',
      );
    }
  }
  // Nothing can depend on a flag that is not stored yet.
  if (subject.id === null) return;
  const links = await listDependencyLinks(tx, subject.projectId);
  const cycle = findCycle({ id: subject.id, key: subject.key, dependsOn: ids }, links);
  if (cycle !== null) throw filtersError(`Circular dependency detected: ${cycle.join(' → ')}`);
}

function requireFlagId(reference: string): number {
  const id = toFlagId(reference);
  if (id !== null) return id;
  throw filtersError(
    'Flag dependencies must reference flag IDs (integers), not flag keys. ' +
      `Invalid reference: '${reference}'`,
  );
}
