/** The SDK that sent a request. */
export interface SdkName {
  readonly sdk: string;
  readonly version: string;
}

const SDK = /^(posthog-[a-z-]{1,30})\/([0-9A-Za-z.+-]{1,30})/;

/** The SDK that a User-Agent names; everything else, browsers among it, is `other`. */
export function readSdkName(userAgent: string | undefined): SdkName {
  const [, sdk, version] = SDK.exec(userAgent ?? '') ?? [];
  if (sdk === undefined || version === undefined) return { sdk: 'other', version: '' };
  return { sdk, version };
}
