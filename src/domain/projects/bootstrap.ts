import type { Db } from '../database/db.ts';
import { LIMITS } from '../database/deadlines.ts';
import { transaction } from '../database/transaction.ts';
import { createPersonalApiKey } from './api-keys-commands.ts';
import { generateKey } from './keys.ts';
import type { Project } from './project.ts';
import { addMember, createProject, createUser } from './projects-commands.ts';
import { hasProjects } from './projects-queries.ts';

/** Keys that an unattended installation brings; what is absent is drawn. */
export interface BootstrapKeys {
  readonly projectApiKey?: string | undefined;
  readonly personalApiKey?: string | undefined;
  readonly projectSecretKey?: string | undefined;
}

/** What the first start shows once. */
export interface Bootstrapped {
  readonly project: Project;
  readonly personalApiKey: string;
  readonly projectSecretKey: string;
}

const BOOTSTRAP_PROJECT_ID = 1;
const BOOTSTRAP_EMAIL = 'admin@burgee.local';

/** Only one of several processes that start on an empty database may fill it. */
const BOOTSTRAP_LOCK = 71_946_001;

/**
 * Gives an empty database its project 1, its first user and their key with all scopes.
 *
 * Returns what to show, or null when the database was in use already.
 */
export async function bootstrap(db: Db, keys: BootstrapKeys): Promise<Bootstrapped | null> {
  return transaction(db, LIMITS.configuration, async (tx) => {
    await tx.raw('SELECT pg_advisory_xact_lock(?)', [BOOTSTRAP_LOCK]);
    if (await hasProjects(tx)) return null;
    const { project, secretKey } = await createProject(tx, {
      id: BOOTSTRAP_PROJECT_ID,
      name: 'Default project',
      apiToken: keys.projectApiKey,
      secretKey: keys.projectSecretKey,
    });
    const user = await createUser(tx, { email: BOOTSTRAP_EMAIL, firstName: 'Admin' });
    await addMember(tx, user.id, project.id);
    const { key } = await createPersonalApiKey(tx, {
      userId: user.id,
      label: 'First key',
      scopes: ['*'],
      projectIds: null,
      key: keys.personalApiKey ?? generateKey('phx_'),
    });
    return { project, personalApiKey: key, projectSecretKey: secretKey };
  });
}
