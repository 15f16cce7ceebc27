import type { ContractOperation } from '../contract/contract-document.ts';
import { createRouteTable } from '../contract/route-table.ts';
import type { OperationPlan } from '../pipeline/plan.ts';

/** The methods that a route can have. */
export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The `Allow` header for a path with these operations. One that is always refused is not in it. */
export function allowHeader(operations: readonly ContractOperation[]): string {
  const allowed = new Set(operations.filter(canSucceed).map(({ method }) => method));
  const listed = METHODS.filter((method) => allowed.has(method));
  const withHead = listed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...withHead, 'OPTIONS'].join(', ');
}

function canSucceed({ mediaTypes }: ContractOperation): boolean {
  return [...mediaTypes.keys()].some((status) => status < 400);
}

/** Tells the methods of each path, OPTIONS among them; none for a path that does not exist. */
export function createMethodTable(
  plans: readonly OperationPlan[],
): (path: string) => readonly string[] {
  const table = createRouteTable(plans);
  return (path) => {
    if (isServicePath(path)) return ['GET', 'HEAD', 'OPTIONS'];
    const declared = table.list(path).map(({ operation }) => operation);
    return declared.length === 0 ? [] : allowHeader(declared).split(', ');
  };
}

const SERVICE_PATHS: ReadonlySet<string> = new Set([
  '',
  '/docs',
  '/metrics',
  '/openapi.yaml',
  '/openapi.json',
]);

function isServicePath(path: string): boolean {
  return SERVICE_PATHS.has(path.replace(/\/$/, '')) || path.startsWith('/docs/');
}
