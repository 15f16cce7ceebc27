/** Something that depends on others of its kind, by id. */
export interface DependencyNode {
  readonly id: number;
  readonly dependsOn: readonly number[];
}

/** In which order nodes can be worked through, and which cannot. */
export interface DependencyOrder {
  /** Ids, each after the ids that it depends on; given order where that allows it. */
  readonly order: readonly number[];
  /** Ids that depend, directly or not, on an id that does not exist. */
  readonly missing: ReadonlySet<number>;
  /** Ids in a cycle or downstream of one; not in `order`. */
  readonly cyclic: ReadonlySet<number>;
}

/** Sorts nodes into topological order (Kahn); what cannot be sorted is listed, never guessed. */
export function orderDependencies(nodes: readonly DependencyNode[]): DependencyOrder {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const missing = new Set<number>();
  const dependents = new Map<number, number[]>();
  const waitingFor = new Map<number, number>();
  for (const node of nodes) {
    const present = new Set(node.dependsOn.filter((id) => byId.has(id)));
    if (node.dependsOn.some((id) => !byId.has(id))) missing.add(node.id);
    waitingFor.set(node.id, present.size);
    for (const id of present) pushTo(dependents, id, node.id);
  }
  const stages = assignStages(nodes, dependents, waitingFor, missing);
  const order = nodes.filter((node) => stages.has(node.id)).map((node) => node.id);
  if (!isOrdered(order, byId)) {
    // A stable sort keeps the given order within a stage.
    order.sort((left, right) => (stages.get(left) ?? 0) - (stages.get(right) ?? 0));
  }
  const cyclic = new Set(nodes.filter((node) => !stages.has(node.id)).map((node) => node.id));
  return { order, missing, cyclic };
}

/** Stage of every node that can be reached; a missing dependency is passed on to dependents. */
function assignStages(
  nodes: readonly DependencyNode[],
  dependents: ReadonlyMap<number, readonly number[]>,
  waitingFor: Map<number, number>,
  missing: Set<number>,
): Map<number, number> {
  const stages = new Map<number, number>();
  let stage = nodes.filter((node) => waitingFor.get(node.id) === 0).map((node) => node.id);
  for (let depth = 0; stage.length > 0; depth++) {
    const next: number[] = [];
    for (const id of stage) {
      stages.set(id, depth);
      for (const dependent of dependents.get(id) ?? []) {
        if (missing.has(id)) missing.add(dependent);
        const left = (waitingFor.get(dependent) ?? 0) - 1;
        waitingFor.set(dependent, left);
        if (left === 0) next.push(dependent);
      }
    }
    stage = next;
  }
  return stages;
}

function isOrdered(order: readonly number[], byId: ReadonlyMap<number, DependencyNode>): boolean {
  const seen = new Set<number>();
  for (const id of order) {
    const isEarly = byId.get(id)?.dependsOn.some((other) => byId.has(other) && !seen.has(other));
    if (isEarly === true) return false;
    seen.add(id);
  }
  return true;
}

function pushTo(lists: Map<number, number[]>, key: number, value: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
