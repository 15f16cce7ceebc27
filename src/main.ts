import { processHooks } from './process-hooks.ts';
import { runService } from './run-service.ts';

process.exitCode = await runService(processHooks(process.env));
