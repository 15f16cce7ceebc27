import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The yardstick: node:http that reads the body and answers bytes that it holds in memory. */
const bytes = readFileSync(process.env.BARE_REPLY_FILE ?? '');

createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': bytes.length,
    });
    response.end(bytes);
  });
}).listen(Number(process.env.PORT), '127.0.0.1');

process.on('SIGTERM', () => process.exit(0));
