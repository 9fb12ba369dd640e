import { ENV } from '../../../shared/contract.ts';
import { contextOf, type Handler } from './functions.ts';

/** What is left to a look. */
const LOOK_MS = 60_000;

/** One run of the function `shadow` in this process, on the loop whose variables are set. */
export async function look(): Promise<unknown> {
  process.env[ENV.function] = 'shadow';
  // It reads its environment when it is loaded.
  const module: { handler: Handler } = await import('../../../functions/shadow/handler.ts');
  return await module.handler({}, contextOf('shadow', LOOK_MS));
}
