import { InvalidArgumentError } from 'commander';
import { DAY_MS } from '../../shared/domain/duration.ts';
import { instant } from '../../shared/operate/status.ts';
import type { ScimToken } from '../../shared/scim/ports.ts';
import type { TokenSummary } from '../../shared/scim/tokens/tokens.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Context } from '../context.ts';
import type { Column } from '../output/table.ts';
import { duration } from '../output/words.ts';
import { age } from './arguments.ts';

export const DEFAULT_LIFETIME_MS = 180 * DAY_MS;

export function lifetime(text: string): number {
  const ms = text === 'never' ? Number.POSITIVE_INFINITY : age(text);
  if (text === 'never' || ms <= 10 * 366 * DAY_MS) return ms;
  throw new InvalidArgumentError('expected at most ten years, or never');
}

export const endOf = (lifetimeMs: number, nowMs: number) =>
  Number.isFinite(lifetimeMs) ? nowMs + lifetimeMs : undefined;

/** Returns the base URL; null if the stage has no SCIM server, undefined if its address cannot be read. */
export const urlOf = async ({ deployment }: ToolPorts): Promise<string | null | undefined> =>
  deployment.scim().then(
    (facts) => (facts === undefined ? null : facts.url),
    () => undefined,
  );

export function noteUrl(
  { out, connection }: Pick<Context, 'out' | 'connection'>,
  url: string | null | undefined,
  { isRequested }: ScimToken,
): void {
  if (isRequested)
    out.note(
      `four eyes is on: it works after another person has run groupsync connections confirm ${connection}`,
    );
  if (url === null) {
    out.note('this stage has no SCIM server: set `scim` in the settings and deploy (docs/scim.md)');
    return;
  }
  out.note(`base URL to paste: ${url ?? 'the output ScimUrl of the stack'}`);
}

export function tokenColumns(nowMs: number): readonly Column<TokenSummary>[] {
  const ago = (atMs: number | undefined) => (atMs === undefined ? 'never' : `${duration(nowMs - atMs)} ago`);
  return [
    { title: 'state', of: ({ state }) => state },
    {
      title: 'created',
      of: ({ createdMs }) => ago(createdMs),
      csv: { title: 'created', of: ({ createdMs }) => instant(createdMs) },
    },
    {
      title: 'expires',
      of: ({ expiresMs }) => instant(expiresMs)?.slice(0, 10) ?? 'never',
      csv: { title: 'expires', of: ({ expiresMs }) => instant(expiresMs) ?? '' },
    },
    {
      title: 'last used',
      of: ({ lastUsedMs }) => ago(lastUsedMs),
      csv: { title: 'last used', of: ({ lastUsedMs }) => instant(lastUsedMs) ?? '' },
    },
  ];
}
