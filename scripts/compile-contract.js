// Compiles the contract into the build, so that the running service need not: its validators, and
// its JSON, beside the code that reads them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { writeCompiledContract } from '../dist/src/http/contract/compiled/write-compiled-contract.js';

const contract = new URL('../openapi.yaml', import.meta.url);
const folder = new URL('../dist/src/http/contract/compiled/files', import.meta.url);
await writeCompiledContract(fileURLToPath(folder), readFileSync(contract, 'utf8'));
