import type { Ports } from '../ports/bundles.ts';
import type { Connection, Health } from '../ports/connections.ts';
import { failureIn } from '../ports/platform.ts';

export type HealthPorts = Pick<Ports, 'platforms' | 'health' | 'clock'>;

/**
 * Uses the credential once a day (`/me`), because customer API keys expire when nobody does, and because a company
 * without changes should learn of a revoked one before the first change is lost on it.
 */
export async function checkHealth(connection: Connection, ports: HealthPorts): Promise<Health> {
  const known = await ports.health.read(connection.name);
  const failure = await failureIn(async () => {
    const found = await (await ports.platforms.open(connection)).probe();
    if (found !== undefined) throw found;
  });
  const nowMs = ports.clock();
  const health: Health =
    failure === undefined
      ? { ...known, checkedAtMs: nowMs, goodAtMs: nowMs }
      : { ...known, checkedAtMs: nowMs, lastFailure: { atMs: nowMs, message: failure.message } };
  await ports.health.write(connection.name, health);
  return health;
}
