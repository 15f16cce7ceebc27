import { BatchedLookups } from '../common/batched-lookups.ts';
import { BoundedCache } from '../common/bounded-cache.ts';
import { SingleFlight } from '../common/single-flight.ts';
import { toRefusal } from '../database/database-error.ts';
import type { Db } from '../database/db.ts';
import type { CompilePattern } from '../evaluation/model/definitions.ts';
import type { Project } from '../projects/project.ts';
import { findProjectsByToken, listProjects } from '../projects/projects-queries.ts';
import { loadProject, type ServedProject } from './load-definitions.ts';

export interface SnapshotStoreOptions {
  readonly db: Db;
  readonly compilePattern: CompilePattern;
  readonly now: () => Date;
}

/** How long an unknown project API key stays unknown without another look-up. */
const UNKNOWN_TOKEN_FOR_MS = 1_000;
const UNKNOWN_TOKENS_MAX = 10_000;

/** What a project API key can look like; anything else needs no look-up. */
const TOKEN = /^[\x21-\x7e]{1,200}$/;

/**
 * The prepared configuration of every project, in memory.
 *
 * A project's configuration is replaced as a whole by one assignment, and only by a newer revision,
 * so a reader never sees half a change or an older state than before.
 */
export class SnapshotStore {
  readonly #options: SnapshotStoreOptions;
  readonly #served = new Map<number, ServedProject>();
  readonly #idsByToken = new Map<string, number>();
  readonly #loads = new SingleFlight<number, ServedProject | undefined>();
  readonly #lookups: BatchedLookups<Project>;
  readonly #unknownTokens = new BoundedCache<string, number>(UNKNOWN_TOKENS_MAX);
  /** Counts how often that was forgotten, so that an overtaken look-up is not remembered. */
  #generation = 0;
  #isLoaded = false;

  constructor(options: SnapshotStoreOptions) {
    this.#options = options;
    this.#lookups = new BatchedLookups((tokens) => findProjectsByToken(options.db, tokens));
  }

  /** Loads every project. Until it has, the store is not ready. */
  async loadAll(): Promise<void> {
    for (const project of await listProjects(this.#options.db)) await this.#load(project.id);
    this.#isLoaded = true;
  }

  /** Whether every project that existed at the start can be served. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Everything that is served now. */
  list(): Iterable<ServedProject> {
    return this.#served.values();
  }

  /** The project with this project API key, if it is in memory. */
  getByToken(token: string): ServedProject | undefined {
    const id = this.#idsByToken.get(token);
    return id === undefined ? undefined : this.#served.get(id);
  }

  /**
   * The project with this project API key, looked up once for all callers if it is not in memory.
   * Undefined when no project has it; throws `unavailable` when that cannot be known.
   */
  async findByToken(token: string): Promise<ServedProject | undefined> {
    const served = this.getByToken(token);
    if (served !== undefined) return served;
    if (!TOKEN.test(token)) return undefined;
    const unknownUntil = this.#unknownTokens.get(token);
    if (unknownUntil !== undefined && unknownUntil > this.#options.now().getTime()) {
      return undefined;
    }
    return this.#lookUp(token);
  }

  /** The project, if it is in memory. */
  getServed(projectId: number): ServedProject | undefined {
    return this.#served.get(projectId);
  }

  /** The project, loaded now if it is not in memory. Throws `unavailable` when it cannot be. */
  async getByProjectId(projectId: number): Promise<ServedProject | undefined> {
    return this.#served.get(projectId) ?? (await this.#load(projectId));
  }

  /** Resolves when the project is served at this revision or a newer one. */
  async catchUp(projectId: number, revision: number): Promise<void> {
    // A load that was under way may have started before the change was committed.
    for (let tries = 0; tries < 2; tries += 1) {
      if (this.#revisionOf(projectId) >= revision) return;
      await this.#load(projectId);
    }
  }

  /** Reloads every project whose revision is newer than what is served. */
  async catchUpWith(revisions: ReadonlyMap<number, number>): Promise<void> {
    for (const [projectId, revision] of revisions) await this.catchUp(projectId, revision);
  }

  /** Forgets which keys are unknown: a project may have been added. */
  forgetUnknownTokens(): void {
    this.#generation += 1;
    this.#unknownTokens.clear();
  }

  #revisionOf(projectId: number): number {
    return this.#served.get(projectId)?.project.revision ?? 0;
  }

  async #lookUp(token: string): Promise<ServedProject | undefined> {
    const generation = this.#generation;
    try {
      const project = await this.#lookups.find(token);
      if (project !== undefined) return await this.#load(project.id);
    } catch (error) {
      throw toRefusal(error);
    }
    if (generation === this.#generation) {
      this.#unknownTokens.set(token, this.#options.now().getTime() + UNKNOWN_TOKEN_FOR_MS);
    }
    return undefined;
  }

  async #load(projectId: number): Promise<ServedProject | undefined> {
    const { db, compilePattern, now } = this.#options;
    return this.#loads.run(projectId, async () => {
      try {
        const loaded = await loadProject(db, projectId, compilePattern, now);
        if (loaded !== undefined) this.#swap(loaded);
        return loaded;
      } catch (error) {
        throw toRefusal(error);
      }
    });
  }

  #swap(loaded: ServedProject): void {
    const { id, apiToken, revision } = loaded.project;
    if (revision < this.#revisionOf(id)) return;
    const previous = this.#served.get(id)?.project.apiToken;
    if (previous !== undefined && previous !== apiToken) this.#idsByToken.delete(previous);
    this.#served.set(id, loaded);
    this.#idsByToken.set(apiToken, id);
  }
}
