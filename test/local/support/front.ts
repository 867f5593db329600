import { onTestFinished } from 'vitest';
import type { AwsService } from '../../../local/emulators/exchange.ts';
import { startAwsFront } from '../../../local/emulators/front.ts';
import { CREDENTIALS } from './queue.ts';

/** Starts a front for one test. @returns the settings for an SDK client of this front */
export async function startFront(...services: AwsService[]) {
  const front = await startAwsFront({ port: 0, services });
  onTestFinished(() => front.close());
  return { ...CREDENTIALS, endpoint: front.url };
}
