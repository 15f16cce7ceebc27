import type { JsonObject, JsonValue } from '../../common/json.ts';

const CLIENT_KEYS = [
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
  '$os_name',
  '$os_version',
  '$referrer',
  '$referring_domain',
  '$screen_height',
  '$screen_width',
  '$viewport_height',
  '$viewport_width',
  '$raw_user_agent',
];

const CAMPAIGN_KEYS = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_name',
  'utm_term',
  'gclid',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'gad_source',
  'fbclid',
  'msclkid',
  'twclid',
  'li_fat_id',
  'mc_cid',
  'igshid',
  'ttclid',
  'rdt_cid',
  'irclid',
  '_kx',
  'epik',
  'qclid',
  'sccid',
];

/** What changes with every page view: not worth a row write of its own. */
const NOISY_KEYS = new Set([
  '$browser',
  '$browser_version',
  '$device_type',
  '$current_url',
  '$pathname',
  '$os',
  '$os_name',
  '$os_version',
  '$referrer',
  '$referring_domain',
  '$screen_height',
  '$screen_width',
  '$viewport_height',
  '$viewport_width',
  '$raw_user_agent',
]);

/** Libraries that run on a server, whose operating system is not the person's. */
const SERVER_LIBRARIES = new Set([
  'posthog-node',
  'posthog-python',
  'posthog-go',
  'posthog-ruby',
  'posthog-php',
  'posthog-java',
  'posthog-server',
  'posthog-dotnet',
  'posthog-rs',
  'posthog-elixir',
]);

const SERVER_SYSTEM_KEYS = new Set(['$os', '$os_name', '$os_version']);

/** Each mapped key with the key under which the first value is kept. */
const INITIAL_KEYS = new Map(
  [...CLIENT_KEYS, ...CAMPAIGN_KEYS].map((key) => [key, `$initial_${key.replace(/^\$/, '')}`]),
);

/** Person properties that an event implies without stating them. */
export interface MappedProperties {
  readonly set: JsonObject;
  readonly setOnce: JsonObject;
}

const NOTHING: MappedProperties = { set: {}, setOnce: {} };

/**
 * The event properties that also describe the person: the latest value under their own key, the
 * first one under `$initial_<key>`. A server library's operating system is left out.
 */
export function mapEventProperties(properties: JsonObject): MappedProperties {
  let mapped: { set: Record<string, JsonValue>; setOnce: Record<string, JsonValue> } | null = null;
  const isServer = typeof properties.$lib === 'string' && SERVER_LIBRARIES.has(properties.$lib);
  for (const key in properties) {
    const initialKey = INITIAL_KEYS.get(key);
    const value = properties[key];
    if (initialKey === undefined || value === undefined) continue;
    if (isServer && SERVER_SYSTEM_KEYS.has(key)) continue;
    mapped ??= { set: {}, setOnce: {} };
    mapped.set[key] = value;
    mapped.setOnce[initialKey] = value;
  }
  return mapped ?? NOTHING;
}

/** Whether a new value of this mapped property may go unstored until something else changes. */
export function isNoisyProperty(key: string): boolean {
  return NOISY_KEYS.has(key);
}
