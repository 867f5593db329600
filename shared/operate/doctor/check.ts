import type { Check } from '../../contract/answers/connect.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { PlatformFailure, withoutCutJson } from '../../sync/ports/platform.ts';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const passed = (name: string, detail: string): Check => ({ name, ok: true, detail, fix: null });
export const fault = (name: string, detail: string, fix: string): Check => ({ name, ok: false, detail, fix });

/** Returns the row for a part that the console cannot check, because its role may not read the part. */
export const elsewhere = (name: string, what: string): Check => ({
  ...passed(name, `only a person with AWS credentials can check ${what}, with groupsync doctor`),
  notRun: true,
});

export const check = (
  name: string,
  ok: boolean,
  { detail, fix }: { readonly detail: string; readonly fix: string },
): Check => (ok ? passed(name, detail) : fault(name, detail, fix));

export type Checked = Check | readonly Check[];

/**
 * Runs a check. An error becomes a fault in the report, and the other checks still run.
 * @param fixOf returns the fix for the error; undefined if no fix is known
 */
export async function guarded(
  name: string,
  run: () => Promise<Checked>,
  fixOf: (error: unknown) => Promise<string | undefined> = async () => undefined,
): Promise<readonly Check[]> {
  try {
    return [await run()].flat();
  } catch (error) {
    const detail = withoutCutJson(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    const fix = (await fixOf(error)) ?? 'check credentials, permissions and network, then run doctor again';
    return [fault(name, `cannot be read: ${detail}`, fix)];
  }
}

export const connectAgain = (name: ConnectionName) => `groupsync connect ${name}`;

/**
 * Returns the fix for a failed platform call; undefined for any other error. The fix is a new credential only if the
 * platform refuses the current credential.
 */
export async function fixOfCall(
  error: unknown,
  name: ConnectionName,
  { gates, clock }: Pick<ToolPorts, 'gates' | 'clock'>,
): Promise<string | undefined> {
  if (!(error instanceof PlatformFailure)) return undefined;
  if (error.kind === 'unauthorized') return connectAgain(name);
  if (error.kind === 'forbidden') return 'give the app the permission for it on the platform';
  const { untilMs } = await gates.read(name);
  const retryMs = error.retryAfterMs === undefined ? undefined : clock() + error.retryAfterMs;
  return wait(untilMs ?? retryMs, clock());
}

/** @param untilMs the time of the next attempt, if it is known */
export function wait(untilMs: number | undefined, nowMs: number): string {
  const isAhead = untilMs !== undefined && untilMs > nowMs;
  const until = isAhead ? `until ${new Date(untilMs).toISOString()}` : 'a few minutes';
  return `wait ${until}: groupsync tries again by itself. If the failures continue, ask the operator of the platform`;
}
