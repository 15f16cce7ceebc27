/** The little of jsdom that the tests use; it comes without types. */
declare module 'jsdom' {
  import type { PostHog } from 'posthog-js';

  /** The window of a page that posthog-js was loaded into. */
  export interface DOMWindow {
    readonly posthog: PostHog;
    readonly document: { querySelectorAll(selector: string): Iterable<{ readonly src: string }> };
    eval(code: string): void;
    close(): void;
  }

  /** Where a page writes what it has to complain about. */
  export class VirtualConsole {
    on(event: 'error' | 'warn' | 'jsdomError', listen: (...values: unknown[]) => void): this;
  }

  export interface Options {
    readonly url: string;
    readonly runScripts: 'dangerously';
    readonly resources: 'usable';
    readonly pretendToBeVisual: boolean;
    readonly virtualConsole: VirtualConsole;
  }

  export class JSDOM {
    constructor(html: string, options: Options);
    readonly window: DOMWindow;
  }
}
