import type { Check } from '../../contract/answers.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';

export const well = (name: string, detail: string): Check => ({ name, ok: true, detail, fix: null });
export const fault = (name: string, detail: string, fix: string): Check => ({ name, ok: false, detail, fix });

export const check = (
  name: string,
  ok: boolean,
  { detail, fix }: { readonly detail: string; readonly fix: string },
): Check => (ok ? well(name, detail) : fault(name, detail, fix));

export type DoctorPorts = Pick<
  ToolPorts,
  | 'deployment'
  | 'connections'
  | 'gates'
  | 'platforms'
  | 'applicants'
  | 'index'
  | 'groups'
  | 'feed'
  | 'health'
  | 'notices'
  | 'tokens'
  | 'clock'
>;

/**
 * A part that cannot be asked is a fault of its own, never the end of the round.
 * @param fixOf what mends the error, where more is known than that something failed
 */
export async function guarded(
  name: string,
  run: () => Promise<readonly Check[]>,
  fixOf: (error: unknown) => Promise<string | undefined> = async () => undefined,
): Promise<readonly Check[]> {
  try {
    return await run();
  } catch (error) {
    const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return [
      fault(
        name,
        `cannot be asked: ${detail}`,
        (await fixOf(error)) ?? 'check credentials, permissions and network, then run doctor again',
      ),
    ];
  }
}
