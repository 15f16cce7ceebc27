/** Properties whose first-touch form is `$initial_` and the name without its `$`. */
const TRACKED_KEYS = [
  '$app_build',
  '$app_name',
  '$app_namespace',
  '$app_version',
  '$browser',
  '$browser_version',
  '$device_type',
  '$current_url',
  '$pathname',
  '$os',
  '$os_version',
  '$referring_domain',
  '$referrer',
  '$screen_height',
  '$screen_width',
  '$viewport_height',
  '$viewport_width',
  '$raw_user_agent',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_term',
  'gclid',
  'gad_source',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
  'twclid',
  'li_fat_id',
  'mc_cid',
  'igshid',
  'ttclid',
  'rdt_cid',
  'epik',
  'qclid',
  'sccid',
  'irclid',
  '_kx',
] as const;

const FALLBACKS = createFallbacks();
const NO_KEYS: readonly string[] = [];

/**
 * Person properties that stand in, in this order, for a missing one: `$os` and `$os_name` mirror
 * each other, `$initial_x` is filled from the current value of x.
 */
export function listFallbackKeys(key: string): readonly string[] {
  return FALLBACKS.get(key) ?? NO_KEYS;
}

function createFallbacks(): ReadonlyMap<string, readonly string[]> {
  const fallbacks = new Map<string, readonly string[]>([
    ['$os', ['$os_name']],
    ['$os_name', ['$os']],
  ]);
  for (const key of TRACKED_KEYS) {
    // The mirror comes first, so that `$initial_os` also finds a lone `$os_name`.
    const sources = [key, ...(fallbacks.get(key) ?? [])];
    fallbacks.set(`$initial_${key.replace(/^\$/, '')}`, sources);
  }
  return fallbacks;
}
