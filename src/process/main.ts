import { processHooks } from './process-hooks.ts';
import { runService } from './run-service.ts';
import { outliveReaders } from './standard-output.ts';

outliveReaders();
process.exitCode = await runService(processHooks(process.env));
