import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Hapi from '@hapi/hapi';
import { packageRoot } from '../../domain/common/package-root.ts';

/** The files of the renderer that the build copied, with their media types. */
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui.css': 'text/css',
};

/** Nothing from other hosts, and no script that is not a file of this server. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Burgee API</title>
<meta name="description" content="Every operation of this Burgee, to read and to try.">
<link rel="icon" type="image/svg+xml" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/page.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The contract itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</noscript>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** A burgee is a flag with a swallow tail. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path d="M5 3v27" stroke="#7a4a1e" stroke-width="3" stroke-linecap="round"/>
<path d="M7 4l22 3-7 6 7 6-22 3z" fill="#c8102e"/>
<path d="M7 10l15 3-15 3z" fill="#fff"/>
</svg>
`;

/** The only server is this one, so there is nothing to choose; less space above the operations. */
const STYLE = `.swagger-ui .servers-title, .swagger-ui .servers { display: none }
.swagger-ui .info { margin: 24px 0 }
.swagger-ui .scheme-container { padding: 12px 0; margin: 0 0 12px }
`;

const START = `const dark = window.matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** What is served beside the renderer. */
const OWN_FILES = [
  { file: 'start.js', type: 'text/javascript', text: START },
  { file: 'page.css', type: 'text/css', text: STYLE },
  { file: 'icon.svg', type: 'image/svg+xml', text: ICON },
] as const;

const DAY_SECONDS = 86_400;

/**
 * The API reference at `/docs`, rendered in the browser from the contract that this server serves;
 * its requests go to this server. `/` leads there.
 */
export function addReferencePage(server: Hapi.Server): void {
  server.route([
    { method: 'GET', path: '/', handler: (_request, h) => h.redirect('/docs') },
    {
      method: 'GET',
      path: '/docs',
      handler: (_request, h) =>
        h
          .response(PAGE)
          .type('text/html')
          .header('content-security-policy', CONTENT_SECURITY_POLICY)
          .header('x-content-type-options', 'nosniff'),
    },
    ...OWN_FILES.map(
      ({ file, type, text }): Hapi.ServerRoute => ({
        method: 'GET',
        path: `/docs/${file}`,
        handler: (_request, h) => h.response(text).type(type),
      }),
    ),
    ...Object.entries(FILES).map(([file, type]): Hapi.ServerRoute => {
      const path = join(packageRoot(), 'dist/reference', file);
      return {
        method: 'GET',
        path: `/docs/${file}`,
        options: { cache: { expiresIn: DAY_SECONDS * 1000 } },
        handler: async (_request, h) => h.response(await readFile(path)).type(type),
      };
    }),
  ]);
}
