import { type Caller, type ProjectAccess, reachableProjectIds } from '../common/access.ts';
import { BatchedLookups } from '../common/batched-lookups.ts';
import { BoundedCache } from '../common/bounded-cache.ts';
import type { Eventually } from '../common/eventually.ts';
import { notFound, Refusal } from '../common/refusal.ts';
import { SingleFlight } from '../common/single-flight.ts';
import { toRefusal } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
import { findCallersByKeyHash } from './api-keys-queries.ts';
import { FailedAttempts } from './failed-attempts.ts';
import { hashKey } from './keys.ts';
import { findProjectIdsBySecretHash, listProjects } from './projects-queries.ts';

const KEYS_MAX = 10_000;

/** How long an unknown key is taken for unknown without another look-up. */
const UNKNOWN_KEY_FOR_MS = 1_000;

const PROJECT_ID = /^[1-9]\d{0,9}$/;

/** How a request names its project: the text of its path, and a project API key. */
interface ProjectTarget {
  readonly projectId: string | null;
  readonly token: string | null;
}

interface KnownProjects {
  readonly ids: ReadonlySet<number>;
  readonly idsByToken: ReadonlyMap<string, number>;
}

/**
 * Who holds which key, and who may enter which project; in memory until something about keys, users
 * or projects changes. What is not in memory is looked up once for all who ask. When that is not
 * possible the answer is `unavailable`, never that a key is bad.
 */
export class IdentityStore {
  readonly #db: Db;
  readonly #now: () => Date;
  readonly #keys = new BoundedCache<string, Caller>(KEYS_MAX);
  /** Until when a key is taken for unknown. Apart, so that invented keys push no good one out. */
  readonly #unknownKeys = new BoundedCache<string, number>(KEYS_MAX);
  readonly #personalKeys: BatchedLookups<Caller>;
  readonly #projectKeys: BatchedLookups<Caller>;
  readonly #failures: FailedAttempts;
  readonly #projectLookups = new SingleFlight<number, KnownProjects>();
  #projects: KnownProjects | null = null;
  /** Counts the changes, so that a look-up that was overtaken by one is not remembered. */
  #generation = 0;

  constructor(db: Db, now: () => Date) {
    this.#db = db;
    this.#now = now;
    this.#failures = new FailedAttempts(() => now().getTime());
    this.#personalKeys = new BatchedLookups<Caller>((hashes) => findCallersByKeyHash(db, hashes));
    this.#projectKeys = new BatchedLookups<Caller>(async (hashes) => {
      const ids = await findProjectIdsBySecretHash(db, hashes);
      return new Map([...ids].map(([hash, projectId]) => [hash, { kind: 'project', projectId }]));
    });
  }

  /** Forgets everything: keys, users, memberships or projects have changed. */
  forget(): void {
    this.#generation += 1;
    this.#keys.clear();
    this.#unknownKeys.clear();
    this.#projects = null;
  }

  /**
   * The holder of a personal API key or a project secret key, or null when nobody holds it. What is
   * in memory is there at once: most requests come with a key that was seen before. An address that
   * sends bad keys all the time waits a moment for what is not.
   */
  authenticate(secret: string, address = ''): Eventually<Caller | null> {
    const hash = hashKey(secret);
    const known = this.#keys.get(hash);
    if (known !== undefined) return known;
    const unknownUntil = this.#unknownKeys.get(hash);
    if (unknownUntil !== undefined && unknownUntil > this.#now().getTime()) {
      this.#failures.note(address);
      return null;
    }
    return this.#lookUpKey(secret, hash, address);
  }

  /**
   * Lets a caller into a project. A token, when there is one, names the project; else `projectId`
   * does, a number or `@current`; else the caller's own project is meant. Rejects with 401 for an
   * unknown token, 404 for an unknown project, 403 for one that the caller has no business in.
   */
  enterProject(caller: Caller, target: ProjectTarget): Eventually<ProjectAccess> {
    const projects = this.#projects;
    if (projects === null) {
      return this.#findProjects().then((found) => enter(caller, target, found));
    }
    try {
      return enter(caller, target, projects);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #lookUpKey(secret: string, hash: string, address: string): Promise<Caller | null> {
    const generation = this.#generation;
    const lookups = secret.startsWith('phs_') ? this.#projectKeys : this.#personalKeys;
    const caller = await lookups
      .find(hash, this.#failures.isSuspect(address))
      .catch((error: unknown) => {
        throw toRefusal(error);
      });
    const isCurrent = generation === this.#generation;
    if (caller !== undefined) {
      if (isCurrent) this.#keys.set(hash, caller);
      return caller;
    }
    this.#failures.note(address);
    if (isCurrent) this.#unknownKeys.set(hash, this.#now().getTime() + UNKNOWN_KEY_FOR_MS);
    return null;
  }

  #findProjects(): Promise<KnownProjects> {
    const generation = this.#generation;
    return this.#projectLookups.run(generation, async () => {
      try {
        const projects = await listProjects(this.#db);
        const known = {
          ids: new Set(projects.map((project) => project.id)),
          idsByToken: new Map(projects.map((project) => [project.apiToken, project.id])),
        };
        if (generation === this.#generation) this.#projects = known;
        return known;
      } catch (error) {
        throw toRefusal(error);
      }
    });
  }
}

function enter(caller: Caller, target: ProjectTarget, projects: KnownProjects): ProjectAccess {
  const projectId = chooseProject(caller, target, projects);
  if (!projects.ids.has(projectId)) throw notFound('Project not found.');
  if (caller.kind === 'project') {
    if (caller.projectId !== projectId) {
      throw denied('You do not have permission to perform this action.');
    }
  } else {
    if (caller.keyProjectIds?.includes(projectId) === false) {
      throw denied(`API key does not have access to the requested project: ID ${projectId}.`);
    }
    if (!caller.memberProjectIds.includes(projectId)) {
      throw denied("You don't have access to the project.");
    }
  }
  return { projectId, caller };
}

function chooseProject(caller: Caller, target: ProjectTarget, projects: KnownProjects): number {
  if (target.token !== null) {
    const projectId = projects.idsByToken.get(target.token);
    if (projectId !== undefined) return projectId;
    throw new Refusal('authentication_failed', 'Incorrect authentication credentials.');
  }
  if (target.projectId === null || target.projectId === '@current') return ownProject(caller);
  if (!PROJECT_ID.test(target.projectId)) throw notFound('Project not found.');
  return Number(target.projectId);
}

/** The first project that both the user and their key reach. */
function ownProject(caller: Caller): number {
  if (caller.kind === 'project') return caller.projectId;
  const [own] = reachableProjectIds(caller);
  if (own === undefined) throw notFound('Project not found.');
  return own;
}

function denied(detail: string): Refusal {
  return new Refusal('permission_denied', detail);
}
