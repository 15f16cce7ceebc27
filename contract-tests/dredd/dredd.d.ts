/** What is used of Dredd, which brings no types. */
declare module 'dredd' {
  /** One request with the reply that is expected of it. Hooks may change it before it is sent. */
  export interface Transaction {
    readonly origin: { readonly resourceName: string };
    readonly request: { method: string; headers: Record<string, string>; body: string };
    readonly expected: {
      readonly statusCode: string;
      headers: Record<string, string>;
      body?: string;
    };
    readonly real?: {
      readonly statusCode: number;
      readonly headers: Record<string, string>;
      readonly body?: string;
    };
    readonly errors?: readonly { readonly message: string }[];
    readonly results?: { readonly fields?: Readonly<Record<string, FieldResult>> };
    fullPath: string;
    skip: boolean;
    /** True or a sentence. */
    fail: boolean | string;
  }

  export interface FieldResult {
    readonly valid: boolean;
    readonly errors: readonly { readonly message: string }[];
  }

  type Hook = (transaction: Transaction, done: () => void) => void;

  /** What a hook file gets as the module `hooks`. */
  export interface Hooks {
    beforeEach(hook: Hook): void;
    beforeEachValidation(hook: Hook): void;
    afterEach(hook: Hook): void;
  }

  interface Options {
    readonly endpoint: string;
    readonly apiDescriptions: readonly { readonly location: string; readonly content: string }[];
    readonly hookfiles: readonly string[];
    readonly loglevel: 'silent' | 'error' | 'warning' | 'debug';
    readonly reporter: readonly string[];
  }

  class Dredd {
    constructor(options: Options);
    run(done: (error: Error | null | undefined) => void): void;
  }

  export = Dredd;
}
