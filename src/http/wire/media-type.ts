import type { IncomingHttpHeaders } from 'node:http';

/** The media type that the request names, without its parameters; empty when it names none. */
export function mediaTypeOf(headers: IncomingHttpHeaders): string {
  const text = headers['content-type'] ?? '';
  if (text === '' || text === 'application/json') return text;
  const [mediaType = ''] = text.split(';');
  return mediaType.trim().toLowerCase();
}
