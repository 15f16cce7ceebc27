import type { ContractOperation } from './contract-document.ts';

/** What is routed to: an operation with whatever belongs to it. */
export interface Routed {
  readonly operation: Pick<ContractOperation, 'paths'>;
}

/** What a path leads to, with the path's parameters as they were sent. */
export interface FoundRoute<Route> {
  readonly route: Route;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds routes by path, the slash at its end optional. */
export interface RouteTable<Route> {
  find(path: string): FoundRoute<Route> | undefined;
  /** Every route of the path, whatever its method; escaped characters are like any others here. */
  list(path: string): readonly Route[];
}

interface Template<Route> {
  readonly pattern: RegExp;
  readonly names: readonly string[];
  readonly route: Route;
}

const ESCAPE = /%[0-9a-f]{2}/gi;

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Indexes routes by the paths and aliases of their operations. A parameter with an escaped character is not
 * matched, because it would have to be decoded: Hapi knows how.
 */
export function createRouteTable<Route extends Routed>(
  routes: readonly Route[],
): RouteTable<Route> {
  const literal = new Map<string, Route[]>();
  const templates: Template<Route>[] = [];
  for (const route of routes) {
    for (const path of route.operation.paths) {
      if (path.includes('{')) templates.push(toTemplate(route, path));
      else literal.set(path, [...(literal.get(path) ?? []), route]);
    }
  }
  const literalAt = (path: string) => literal.get(path) ?? literal.get(path.replace(/\/$/, ''));
  return {
    find(path) {
      const route = literalAt(path)?.[0];
      if (route !== undefined) return { route, path, params: NO_PARAMS };
      for (const template of templates) {
        const match = template.pattern.exec(path);
        if (match !== null) {
          return { route: template.route, path, params: paramsOf(template.names, match) };
        }
      }
      return undefined;
    },
    list(path) {
      const found = literalAt(path);
      if (found !== undefined) return found;
      const unescaped = path.replaceAll(ESCAPE, '_');
      const fitting = templates.filter(({ pattern }) => pattern.test(unescaped));
      // A literal step goes before a parameter in the same place, here as when requests are routed.
      const fewest = Math.min(...fitting.map(({ names }) => names.length));
      return fitting.filter(({ names }) => names.length === fewest).map(({ route }) => route);
    },
  };
}

function toTemplate<Route>(route: Route, path: string): Template<Route> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const source = path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '([^/%]+)');
  return { pattern: new RegExp(`^${source}/?$`), names, route };
}

function paramsOf(names: readonly string[], match: RegExpExecArray): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, match[index + 1] ?? '']));
}
