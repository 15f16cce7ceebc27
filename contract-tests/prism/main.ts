import { startPrism } from './start-prism.ts';

/**
 * `npm run mock` answers from the examples of the contract; `npm run proxy -- URL` passes on to a
 * Burgee that runs and says in the header `sl-violations` what breaks the contract. PORT sets the
 * port.
 */
const [mode, upstream = 'http://127.0.0.1:8000'] = process.argv.slice(2);
const port = Number(process.env.PORT ?? 4010);
const prism = await startPrism({
  upstream: mode === 'proxy' ? upstream : null,
  port,
  print: (text) => process.stdout.write(text),
});
console.log(
  mode === 'proxy'
    ? `The proxy to ${upstream} is ready at ${prism.url}`
    : `The mock is ready at ${prism.url}`,
);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void prism.stop());
}
