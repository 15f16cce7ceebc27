import { notFound } from '../../domain/common/refusal.ts';
import type { ServedProject } from '../../domain/snapshots/load-definitions.ts';
import type { SnapshotStore } from '../../domain/snapshots/snapshot-store.ts';
import type { Handlers } from '../../operations/operation.ts';

/** How SDKs may pack bodies. Browsers only compress when they find `gzip-js` here. */
const SUPPORTED_COMPRESSION = ['gzip', 'gzip-js'];

/** The part of the settings that does not depend on a project. */
export function describeSupport() {
  return {
    supportedCompression: SUPPORTED_COMPRESSION,
    config: { enable_collect_everything: true },
    toolbarParams: {},
    isAuthenticated: false,
    sessionRecording: false,
  };
}

/** The settings of browser SDKs. What Burgee does not have is switched off. */
export function toBrowserConfig(served: ServedProject) {
  return {
    ...describeSupport(),
    surveys: false,
    heatmaps: false,
    capturePerformance: false,
    autocaptureExceptions: false,
    autocapture_opt_out: false,
    siteApps: [],
    defaultIdentifiedOnly: true,
    elementsChainAsString: true,
    captureDeadClicks: false,
    hasFeatureFlags: served.flags.some((flag) => flag.active),
  };
}

/** The operations from which posthog-js reads its settings when it starts. */
export function createBrowserConfigHandlers(
  snapshots: SnapshotStore,
): Pick<Handlers, 'getBrowserConfig' | 'getBrowserConfigScript'> {
  const read = async (token: string) => {
    const served = snapshots.getByToken(token) ?? (await snapshots.findByToken(token));
    if (served === undefined) throw notFound();
    return { token, ...toBrowserConfig(served) };
  };
  return {
    async getBrowserConfig({ params, reply }) {
      return reply(200, await read(params.token));
    },
    async getBrowserConfigScript({ params, reply }) {
      const config = await read(params.token);
      return reply(200, toScript(params.token, config));
    },
  };
}

/** Leaves the settings where posthog-js looks for them, by token. */
function toScript(token: string, config: object): string {
  const name = JSON.stringify(token);
  const value = JSON.stringify({ config, siteApps: [] });
  // The text may end up inside a page, where "</" would end the script.
  const safe = (text: string) => text.replaceAll('<', '\\u003c');
  return (
    '(function () {\n' +
    '  window._POSTHOG_REMOTE_CONFIG = window._POSTHOG_REMOTE_CONFIG || {};\n' +
    `  window._POSTHOG_REMOTE_CONFIG[${safe(name)}] = ${safe(value)};\n` +
    '})();\n'
  );
}
