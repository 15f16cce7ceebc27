import type { ContractOperation } from './contract-document.ts';

/** An operation that a path leads to, with the path's parameters as they were sent. */
export interface FoundRoute {
  readonly operation: ContractOperation;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds operations by path, the slash at its end optional. */
export interface RouteTable {
  find(path: string): FoundRoute | undefined;
  /** Every operation of the path, whatever its method. */
  list(path: string): readonly ContractOperation[];
}

interface Template {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly operation: ContractOperation;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Indexes operations by their paths and aliases. A parameter with an escaped character is not
 * matched, because it would have to be decoded: Hapi knows how.
 */
export function createRouteTable(operations: readonly ContractOperation[]): RouteTable {
  const literal = new Map<string, ContractOperation[]>();
  const templates: Template[] = [];
  for (const operation of operations) {
    for (const path of operation.paths) {
      if (path.includes('{')) templates.push(toTemplate(operation, path));
      else literal.set(path, [...(literal.get(path) ?? []), operation]);
    }
  }
  const literalAt = (path: string) => literal.get(path) ?? literal.get(path.replace(/\/$/, ''));
  return {
    find(path) {
      const operation = literalAt(path)?.[0];
      if (operation !== undefined) return { operation, params: NO_PARAMS };
      for (const template of templates) {
        const match = template.pattern.exec(path);
        if (match !== null)
          return { operation: template.operation, params: paramsOf(template, match) };
      }
      return undefined;
    },
    list(path) {
      const found = literalAt(path);
      if (found !== undefined) return found;
      const fitting = templates.filter(({ pattern }) => pattern.test(path));
      // A literal step goes before a parameter in the same place, here as when requests are routed.
      const fewest = Math.min(...fitting.map(({ names }) => names.length));
      return fitting
        .filter(({ names }) => names.length === fewest)
        .map(({ operation }) => operation);
    },
  };
}

function toTemplate(operation: ContractOperation, path: string): Template {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const source = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/%]+)');
  return { pattern: new RegExp(`^${source}/?$`), names, operation };
}

function paramsOf({ names }: Template, match: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? '']));
}
