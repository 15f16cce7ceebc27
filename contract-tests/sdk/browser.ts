import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type DOMWindow, JSDOM, VirtualConsole } from 'jsdom';
import type { PostHog, PostHogConfig } from 'posthog-js';
import { PROJECT_API_KEY } from '../start-burgee.ts';

/** A page of another origin, in a browser of its own, with the unchanged SDK that npm has. */
export interface Browser {
  readonly posthog: PostHog;
  /** The addresses of the scripts that the SDK put into the page. */
  scripts(): readonly string[];
}

const ONLY_FLAGS_AND_EVENTS: Partial<PostHogConfig> = {
  autocapture: false,
  capture_pageview: false,
  capture_pageleave: false,
  disable_session_recording: true,
  disable_surveys: true,
  disable_external_dependency_loading: true,
  // Events are sent at once instead of a few seconds later.
  request_batching: false,
  // The page is in no browser that a person uses, and says so.
  opt_out_useragent_filter: true,
};

const SDK = readFileSync(createRequire(import.meta.url).resolve('posthog-js'), 'utf8');

/** Runs work with the SDK started in a page, and closes the page, whatever happens. */
export async function withBrowser(
  host: string,
  options: Partial<PostHogConfig>,
  work: (browser: Browser) => Promise<void>,
  projectApiKey: string = PROJECT_API_KEY,
): Promise<void> {
  const window = openPage();
  const { posthog } = window;
  try {
    posthog.init(projectApiKey, { ...ONLY_FLAGS_AND_EVENTS, api_host: host, ...options });
    await work({
      posthog,
      scripts: () => [...window.document.querySelectorAll('script[src]')].map(({ src }) => src),
    });
  } finally {
    window.close();
  }
}

function openPage(): DOMWindow {
  const { window } = new JSDOM('<!doctype html><title>Shop</title><p>Welcome</p>', {
    url: 'http://shop.example/',
    runScripts: 'dangerously',
    resources: 'usable',
    pretendToBeVisual: true,
    // Nobody reads what the page complains about; what it asks for is recorded.
    virtualConsole: new VirtualConsole(),
  });
  window.eval(`(function (exports) {\n${SDK}\nwindow.posthog = exports.posthog;\n})({});`);
  return window;
}
