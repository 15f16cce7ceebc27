import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json.ts';
import type { CohortDefinition } from '../model/definitions.ts';
import type { FailureCode } from '../model/reasons.ts';
import type { CohortNode, PreparedCohort, StoredReads } from '../model/snapshot.ts';
import { type DependencyOrder, orderDependencies } from './dependency-order.ts';
import { MalformedFilters, parseFilter } from './parse-filters.ts';
import { type PersonFilterTools, preparePersonFilter } from './prepare-condition.ts';
import { collectReads, mergeReads, NO_READS } from './stored-reads.ts';

// Trees, and cohorts in cohorts, are walked recursively; nobody nests this deep by hand.
const TREE_DEPTH_LIMIT = 100;
const TOTAL_DEPTH_LIMIT = 400;
const BEHAVIOURAL_TYPES: ReadonlySet<JsonValue> = new Set(['behavioral', 'lifecycle']);

interface CohortTree {
  readonly definition: CohortDefinition;
  readonly isStatic: boolean;
  readonly root: CohortNode | null;
  readonly nodes: readonly CohortNode[];
  readonly nestedIds: readonly number[];
  readonly height: number;
  readonly hasBehaviouralLeaf: boolean;
}

/** What reading one tree collects on its way. */
interface TreeReading {
  readonly tools: PersonFilterTools;
  readonly nodes: CohortNode[];
  height: number;
  hasBehaviouralLeaf: boolean;
}

/**
 * Prepares all cohorts of a project by id. A cohort that refers to an unknown one, or to itself by
 * way of others, is marked with its failure; so is everything that contains it.
 */
export function prepareCohorts(
  definitions: readonly CohortDefinition[],
  tools: PersonFilterTools,
): ReadonlyMap<number, PreparedCohort> {
  const trees = new Map(definitions.map((each) => [each.id, readTree(each, tools)]));
  const sorted = orderDependencies(
    [...trees].map(([id, tree]) => ({ id, dependsOn: tree.nestedIds })),
  );
  const prepared = new Map<number, PreparedCohort>();
  const depths = new Map<number, number>();
  for (const id of [...sorted.order, ...sorted.cyclic]) {
    const tree = trees.get(id);
    if (tree === undefined) continue;
    const below = tree.nestedIds.reduce((most, each) => Math.max(most, depths.get(each) ?? 0), 0);
    const depth = tree.height + 1 + below;
    depths.set(id, depth);
    prepared.set(id, finishCohort(tree, findFailure(id, depth, sorted), prepared));
  }
  return prepared;
}

function findFailure(id: number, depth: number, sorted: DependencyOrder): FailureCode | null {
  if (sorted.cyclic.has(id)) return 'dependency_cycle_cohort';
  if (sorted.missing.has(id)) return 'dependency_not_found_cohort';
  return depth > TOTAL_DEPTH_LIMIT ? 'cohort_filters_parsing_error' : null;
}

function finishCohort(
  tree: CohortTree,
  failure: FailureCode | null,
  prepared: ReadonlyMap<number, PreparedCohort>,
): PreparedCohort {
  const { id } = tree.definition;
  const nested = tree.nestedIds.flatMap((nestedId) => prepared.get(nestedId) ?? []);
  return {
    id,
    isStatic: tree.isStatic,
    failure,
    root: tree.root,
    hasBehaviouralLeaf:
      tree.hasBehaviouralLeaf || nested.some((cohort) => cohort.hasBehaviouralLeaf),
    reads: tree.isStatic
      ? { ...NO_READS, staticCohortIds: [id] }
      : mergeReads([readsOfLeaves(tree), ...nested.map((cohort) => cohort.reads)]),
  };
}

function readsOfLeaves(tree: CohortTree): StoredReads {
  const filters = tree.nodes.flatMap((node) => (node.kind === 'property' ? [node.filter] : []));
  return collectReads(filters, new Map());
}

function readTree(definition: CohortDefinition, tools: PersonFilterTools): CohortTree {
  const isStatic = definition.isStatic || definition.cohortType === 'static';
  const reading: TreeReading = { tools, nodes: [], height: 0, hasBehaviouralLeaf: false };
  const root = isStatic ? null : readRoot(definition, reading);
  const nested = reading.nodes.flatMap((node) => (node.kind === 'cohort' ? [node.cohortId] : []));
  return {
    definition,
    isStatic,
    root,
    nodes: reading.nodes,
    nestedIds: [...new Set(nested)],
    height: reading.height,
    hasBehaviouralLeaf: reading.hasBehaviouralLeaf,
  };
}

/** The tree of `filters.properties`, else the old `groups`; null when neither can be read. */
function readRoot({ filters, groups }: CohortDefinition, reading: TreeReading): CohortNode | null {
  if (filters !== null && Object.keys(filters).length > 0) {
    const { properties } = filters;
    if (!isJsonObject(properties)) return null;
    const root = readNode(properties, reading, 0);
    return root.kind === 'group' ? root : null;
  }
  if (!Array.isArray(groups) || groups.length === 0) return null;
  const children = groups.map((group) => readOldGroup(group, reading));
  return keep({ kind: 'group', isNegated: false, isAny: true, children }, reading);
}

/** A leaf that cannot be read is false, and its negation then true. */
function readNode(node: JsonValue, reading: TreeReading, depth: number): CohortNode {
  if (!isJsonObject(node) || depth > TREE_DEPTH_LIMIT) return keepNever(false, reading);
  reading.height = Math.max(reading.height, depth);
  const isNegated = node.negation === true;
  const { type, values } = node;
  if (type === 'AND' || type === 'OR' || (type === 'property' && values !== undefined)) {
    if (!Array.isArray(values)) return keepNever(isNegated, reading);
    const children = values.map((child) => readNode(child, reading, depth + 1));
    return keep({ kind: 'group', isNegated, isAny: type === 'OR', children }, reading);
  }
  return readLeaf(node, isNegated, reading);
}

function readLeaf(leaf: JsonObject, isNegated: boolean, reading: TreeReading): CohortNode {
  const { type } = leaf;
  if (type !== undefined && BEHAVIOURAL_TYPES.has(type)) {
    reading.hasBehaviouralLeaf = true;
    return keepNever(isNegated, reading);
  }
  if (type === 'cohort') {
    if (typeof leaf.value !== 'number') return keepNever(isNegated, reading);
    const isOutside = isNegated !== (leaf.operator === 'not_in');
    return keep({ kind: 'cohort', isNegated: isOutside, cohortId: leaf.value }, reading);
  }
  try {
    const parsed = parseFilter(leaf);
    const isPersonal = parsed.type === 'person' || parsed.type === 'person_metadata';
    const filter = isPersonal ? preparePersonFilter(parsed, reading.tools) : null;
    if (filter === null || filter.kind === 'never') return keepNever(isNegated, reading);
    return keep({ kind: 'property', isNegated, filter }, reading);
  } catch (error) {
    if (error instanceof MalformedFilters) return keepNever(isNegated, reading);
    throw error;
  }
}

/** Old groups list person properties that must all match; event and action groups never match. */
function readOldGroup(group: JsonValue, reading: TreeReading): CohortNode {
  if (!isJsonObject(group)) return keepNever(false, reading);
  const { properties } = group;
  if (!Array.isArray(properties) || properties.length === 0) return keepNever(false, reading);
  const isOnEvents = [group.action_id, group.event_id].some((id) => (id ?? null) !== null);
  if (isOnEvents) return keepNever(false, reading);
  const children = properties.map((leaf: JsonValue) =>
    readNode(isJsonObject(leaf) ? asPersonLeaf(leaf) : leaf, reading, 1),
  );
  return keep({ kind: 'group', isNegated: false, isAny: false, children }, reading);
}

function asPersonLeaf(leaf: JsonObject): JsonObject {
  return leaf.type === 'event' ? { ...leaf, type: 'person' } : leaf;
}

function keepNever(isNegated: boolean, reading: TreeReading): CohortNode {
  return keep({ kind: 'never', isNegated }, reading);
}

function keep(node: CohortNode, reading: TreeReading): CohortNode {
  reading.nodes.push(node);
  return node;
}
