import type { ConnectionName } from '../../domain/ids.ts';
import { PlatformFailure } from '../../sync/ports/platform.ts';
import type { DoctorPorts } from './check.ts';

export const connectAgain = (name: ConnectionName) => `groupsync connect ${name}`;

/** What mends a failed call: a new credential only where this one is refused. undefined where it was no platform's. */
export async function fixOfCall(
  error: unknown,
  name: ConnectionName,
  { gates, clock }: Pick<DoctorPorts, 'gates' | 'clock'>,
): Promise<string | undefined> {
  if (!(error instanceof PlatformFailure)) return undefined;
  if (error.kind === 'unauthorized') return connectAgain(name);
  if (error.kind === 'forbidden') return 'give the app the permission for it on the platform';
  const { untilMs } = await gates.read(name);
  const retryMs = error.retryAfterMs === undefined ? undefined : clock() + error.retryAfterMs;
  return wait(untilMs ?? retryMs, clock());
}

/** @param untilMs when it is tried again, as far as is known */
export function wait(untilMs: number | undefined, nowMs: number): string {
  const isAhead = untilMs !== undefined && untilMs > nowMs;
  const until = isAhead ? `until ${new Date(untilMs).toISOString()}` : 'a few minutes';
  return `wait ${until}: it is tried again by itself; if it lasts, ask the operator of the platform`;
}
