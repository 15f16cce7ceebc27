/** What is measured over HTTP: a project with so many flags, and one kind of request. */
export interface Scenario {
  readonly name: string;
  readonly flags: number;
  readonly kind: RequestKind;
  readonly connections: number;
  /** The cost of the bare server's request divided by Burgee's should be at least this. */
  readonly ratio: number;
}

export type RequestKind =
  | 'request properties'
  | 'stored properties'
  | 'definitions 304'
  | 'single events';

/** The scenarios. Their targets are a tenth below what was measured on a busy machine; a quiet one shows more. */
export const SCENARIOS: readonly Scenario[] = [
  { name: '10 flags', flags: 10, kind: 'request properties', connections: 16, ratio: 0.32 },
  { name: '100 flags', flags: 100, kind: 'request properties', connections: 16, ratio: 0.2 },
  { name: '10 flags, stored', flags: 10, kind: 'stored properties', connections: 16, ratio: 0.28 },
  { name: 'definitions, 304', flags: 100, kind: 'definitions 304', connections: 16, ratio: 0.46 },
  { name: 'single events', flags: 0, kind: 'single events', connections: 50, ratio: 0.16 },
];
