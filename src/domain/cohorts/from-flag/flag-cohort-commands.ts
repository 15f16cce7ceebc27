import { invalidField, notFound } from '../../common/refusal.ts';
import { getFlag } from '../../flags/list/flags-queries.ts';
import { conditionsOf } from '../../flags/model/flag.ts';
import type { FeatureFlag } from '../../flags/model/flag-fields.ts';
import { addJob } from '../../jobs/jobs-writes.ts';
import { changeProject } from '../../projects/change-project.ts';
import { type DescribedCohort, toCohort } from '../cohort.ts';
import type { CohortCommandsContext } from '../cohorts-commands.ts';
import { describeCohorts } from '../cohorts-queries.ts';
import { type CohortAuthor, logCohortChange } from '../cohorts-writes.ts';

/**
 * Creates a static cohort and has it filled, in the background, with everybody for whom the flag is
 * enabled. Throws 404 for an unknown flag and 400 for one that decides nothing for persons.
 */
export async function createCohortForFlag(
  context: CohortCommandsContext & { readonly now: () => Date },
  author: CohortAuthor,
  flagId: number,
): Promise<DescribedCohort> {
  const created = await changeProject(context, author.projectId, async (tx) => {
    const found = await getFlag(tx, author.projectId, flagId);
    if (found === undefined) throw notFound();
    requirePersons(found.flag);
    const [row] = await tx('cohorts')
      .insert({
        project_id: author.projectId,
        name: `Users with feature flag ${found.flag.key} enabled at ${toSeconds(context.now())}`,
        is_static: true,
        cohort_type: 'static',
        groups: '[]',
        count: 0,
        created_by: author.userId,
      })
      .returning('*');
    if (row === undefined) throw new Error('The database returned no row for a new cohort.');
    const cohort = toCohort(row);
    await logCohortChange(tx, author, cohort, 'created', []);
    await addJob(tx, {
      projectId: author.projectId,
      kind: 'fill_cohort_from_flag',
      subjectId: cohort.id,
      payload: { flag_id: flagId },
    });
    const [described] = await describeCohorts(tx, [cohort]);
    if (described === undefined) throw new Error('A cohort got lost while it was described.');
    return described;
  });
  context.onJobsAdded();
  return created;
}

function requirePersons(flag: FeatureFlag): void {
  if (flag.deleted) {
    throw invalidField(
      null,
      'This feature flag has been deleted. Restore it before creating a cohort from it.',
    );
  }
  if (flag.hasEncryptedPayloads) {
    throw invalidField(null, 'A flag with encrypted payloads is not evaluated for persons.');
  }
  const flagIndex = flag.filters.aggregation_group_type_index ?? null;
  const conditions = conditionsOf(flag.filters);
  const isForGroups = conditions.every((condition) => {
    const own = condition.aggregation_group_type_index;
    return (own === undefined ? flagIndex : own) !== null;
  });
  if (isForGroups && conditions.length > 0) {
    throw invalidField(null, 'This feature flag decides for groups, and a cohort holds persons.');
  }
}

/** `2026-01-20 09:30:00`, UTC. */
function toSeconds(now: Date): string {
  return now.toISOString().slice(0, 19).replace('T', ' ');
}
