/**
 * How a refusal looks: an envelope of JSON, a line of text for SDKs that evaluate or capture, or
 * capture v1's own JSON.
 */
export const ERROR_STYLES = [
  'management',
  'definitions',
  'evaluation',
  'capture',
  'capture_v1',
] as const;

export type ErrorStyle = (typeof ERROR_STYLES)[number];
