import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DrawMaker } from '../src/domain/evaluation/bucketing/draws.ts';
import { hash } from '../src/domain/evaluation/bucketing/hash.ts';
import { evaluateFlags } from '../src/domain/evaluation/match/evaluate-flags.ts';
import type { Snapshot } from '../src/domain/evaluation/model/snapshot.ts';
import { bestOf, type Contender } from './best-of.ts';
import { benchKey, createPersons, prepareProject, writeDefinitions } from './engine-projects.ts';

const FLAG_COUNTS = [1, 10, 100, 1000, 10_000];
const MANY_FLAGS = 10_000;
const HASHED_PREFIXES = 100;
const MEASURED_EVALUATION_FLAGS = 100;

/** Time of evaluating every flag of a project for one person. */
export interface EngineFigure {
  readonly flags: number;
  readonly microsecondsPerEvaluation: number;
  readonly microsecondsPerFlag: number;
}

/** Measures projects whose flags each have one text condition and a 50 % rollout; one core. */
export function benchEngine(): EngineFigure[] {
  const evaluations = FLAG_COUNTS.map((flags) => evaluationOf(createProject(flags), undefined));
  return bestOf(evaluations).map((microsecondsPerEvaluation, at) => {
    const flags = FLAG_COUNTS[at] ?? 1;
    return {
      flags,
      microsecondsPerEvaluation,
      microsecondsPerFlag: microsecondsPerEvaluation / flags,
    };
  });
}

/** Microseconds for one requested flag of a project with one, and of a project with very many. */
export function benchOneRequested(): { few: number; many: number } {
  const requested = [benchKey(0)];
  const [few = 0, many = 0] = bestOf([
    evaluationOf(createProject(1), requested),
    evaluationOf(createProject(MANY_FLAGS), requested),
  ]);
  return { few, many };
}

/** Hashes per second: four in WebAssembly at a time, and each alone with node:crypto. */
export function benchHashes(): { lanes: number; alone: number } {
  const maker = new DrawMaker();
  const prefixes = Array.from({ length: HASHED_PREFIXES }, (_, at) => `${benchKey(at)}.`);
  const draws = prefixes.map((prefix) => maker.make(prefix, '', 'person'));
  const identifiers = createPersons().map(({ distinctId }) => distinctId);
  let at = 0;
  const next = () => identifiers[at++ % identifiers.length] ?? '';
  let sum = 0;
  const hashInLanes = () => {
    const identifier = next();
    for (const draw of draws) sum += draw.hash(identifier);
  };
  const hashAlone = () => {
    const identifier = next();
    for (const prefix of prefixes) sum += hash(prefix + identifier);
  };
  const [lanes = 0, alone = 0] = bestOf([
    { work: hashInLanes, times: HASHED_PREFIXES },
    { work: hashAlone, times: HASHED_PREFIXES },
  ]);
  if (sum === 0) throw new Error('Nothing was hashed: the measurement is void.');
  return { lanes: 1_000_000 / lanes, alone: 1_000_000 / alone };
}

/** Heap that each flag takes: as stored, prepared, and evaluated; each beside the ones before. */
export interface MemoryFigure {
  readonly stored: number;
  readonly prepared: number;
  readonly evaluated: number;
}

export function benchMemory(): MemoryFigure {
  const text = writeDefinitions(MANY_FLAGS);
  // Once before, so that compiled code is not counted.
  measureMemory(text);
  return measureMemory(text);
}

function measureMemory(text: string): MemoryFigure {
  const empty = usedHeap();
  const definitions = JSON.parse(text);
  const withStored = usedHeap();
  const snapshot = prepareProject(definitions);
  const withPrepared = usedHeap();
  const people = createPersons().slice(0, 1);
  const evaluated = people.map((person) => evaluateFlags(snapshot, person, { now: new Date() }));
  const withEvaluated = usedHeap();
  if (evaluated[0]?.outcomes.length !== definitions.length) {
    throw new Error('Not every flag was evaluated: the measurement is void.');
  }
  const perFlag = (bytes: number) => Math.round(bytes / MANY_FLAGS);
  return {
    stored: perFlag(withStored - empty),
    prepared: perFlag(withPrepared - withStored),
    evaluated: perFlag(withEvaluated - withPrepared),
  };
}

function createProject(flags: number): Snapshot {
  return prepareProject(JSON.parse(writeDefinitions(flags)));
}

function evaluationOf(snapshot: Snapshot, flagKeys: readonly string[] | undefined): Contender {
  const persons = createPersons();
  const now = new Date();
  const options = flagKeys === undefined ? { now } : { now, flagKeys };
  let enabled = 0;
  for (const person of persons) {
    if (evaluateFlags(snapshot, person, options).outcomes[0]?.enabled) enabled += 1;
  }
  if (enabled === 0 || enabled === persons.length) {
    throw new Error('The rollout does not divide anybody: the measurement is void.');
  }
  let at = 0;
  const times = Math.max(1, Math.round(MEASURED_EVALUATION_FLAGS / snapshot.flags.length));
  const work = () => {
    for (let time = 0; time < times; time++) {
      const person = persons[at++ % persons.length];
      if (person !== undefined) evaluateFlags(snapshot, person, options);
    }
  };
  return { work, times };
}

/** Bytes in use after collecting garbage. */
function usedHeap(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') throw new Error('This runtime collects no garbage on demand.');
  collect();
  return process.memoryUsage().heapUsed;
}
