import { benchSdk } from './sdk.ts';

const SDK_RATIO = 25;

/** Prints the engine beside posthog-node's local evaluation; returns the target that was missed. */
export async function reportSdk(): Promise<string[]> {
  const sdk = await benchSdk(100);
  console.log(
    `\n100 flags for one person: engine ${Math.round(sdk.engine)}/s, ` +
      `posthog-node ${Math.round(sdk.sdk)}/s, ratio ${sdk.ratio.toFixed(1)}`,
  );
  return sdk.ratio < SDK_RATIO ? [`ratio ${sdk.ratio.toFixed(1)} to posthog-node`] : [];
}
