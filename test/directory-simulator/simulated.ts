import { onTestFinished } from 'vitest';
import type { OpenDialect } from '../../directory-simulator/engine/dialect.ts';
import {
  CALM_SETTINGS,
  changedSettings,
  type PartialSettings,
} from '../../directory-simulator/engine/settings.ts';
import { createDirectorySimulator } from '../../directory-simulator/engine/simulator.ts';
import type { WorldInput } from '../../directory-simulator/engine/world.ts';
import { type Sent, sendTo } from '../support/inject.ts';

/** The time at which each simulated directory starts. */
export const NOW_MS = Date.UTC(2026, 10, 20, 10);

export interface Options {
  readonly world?: WorldInput;
  readonly seed?: string;
  readonly settings?: PartialSettings;
}

/** Starts a directory without lag and failures. The test sets its clock, and the skew of the reader's clock. Returns functions that call the directory. */
export function startSimulated(
  dialect: OpenDialect,
  { world, seed = '1', settings = {} }: Options & { readonly world: WorldInput },
  host = 'localhost',
) {
  const clock = { ms: NOW_MS, skewMs: 0 };
  const defects: unknown[] = [];
  const simulator = createDirectorySimulator({
    dialect,
    world,
    seed,
    clock: () => clock.ms,
    settings: changedSettings(CALM_SETTINGS, settings),
    onDefect: (error) => defects.push(error),
  });
  onTestFinished(() => simulator.close());
  const sendFrom = sendTo(simulator.app);
  const send = (request: string, { headers, ...sent }: Sent = {}) =>
    sendFrom(request, { ...sent, headers: { host, ...headers } });
  const control = (name: string, body: unknown = {}) => send(`POST /_simulator/${name}`, { body });
  return { simulator, clock, defects, send, control };
}
