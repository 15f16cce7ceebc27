import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** The yardstick: node:http that reads the body and answers with bytes that it holds in memory. */
const NOT_MODIFIED = 304;
const STATUS = Number(process.env.BARE_STATUS);
/** Replies that Burgee gave, one in each line: they take turns, as Burgee's differ too. */
const replies = readFileSync(process.env.BARE_REPLY_FILE ?? '', 'utf8')
  .split('\n')
  .map((line) => Buffer.from(line));
let turn = 0;

createServer((request, response) => {
  request.on('data', () => {});
  request.on('end', () => {
    // Health checks of the benchmark are answered with 200 whatever is measured.
    const status = request.url === '/_readiness' ? 200 : STATUS;
    if (status === NOT_MODIFIED) {
      response.writeHead(status, { etag: 'W/"0123456789abcdef"' }).end();
      return;
    }
    turn = (turn + 1) % replies.length;
    const bytes = replies[turn] ?? Buffer.alloc(0);
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': bytes.length,
    });
    response.end(bytes);
  });
}).listen(Number(process.env.PORT), '127.0.0.1');

process.on('SIGTERM', () => process.exit(0));
