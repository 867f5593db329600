import type { PendingRow } from '../../shared/contract/answers/groups.ts';
import { type ConnectionName, memberId } from '../../shared/domain/ids.ts';
import { mayBeRehire } from '../../shared/operate/rehires.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { departmentOf, nameOf } from './people.ts';

interface Row {
  readonly member: string;
  readonly cause: string;
  /** The ACTIVE employee who matches a member that is bound to a person who has left. */
  readonly rehire: string | null;
  readonly groups: number;
  readonly sinceMs: number;
}

/** Returns each pending person once: first rehires, then by the number of groups in which the person is pending. */
export function unmatchedIn(
  pending: readonly PendingRow[],
  rehires: ReadonlyMap<string, string>,
): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const { member, cause, sinceMs } of pending) {
    // An operator decided about this person, so nothing needs attention.
    if (cause === 'blocked') continue;
    const seen = rows.get(member);
    rows.set(member, {
      member,
      cause,
      rehire: mayBeRehire(cause) ? (rehires.get(member) ?? null) : null,
      groups: (seen?.groups ?? 0) + 1,
      sinceMs: Math.min(seen?.sinceMs ?? sinceMs, sinceMs),
    });
  }
  return [...rows.values()].sort(
    (a, b) => Number(a.rehire === null) - Number(b.rehire === null) || b.groups - a.groups,
  );
}

export async function namedUnmatched(
  connection: ConnectionName,
  rows: readonly Row[],
  ports: Pick<ToolPorts, 'users'>,
) {
  const ids = rows.map(({ member }) => memberId(member));
  const users = await ports.users.read(connection, ids);
  return rows.map(({ member, ...row }) => {
    const user = users.get(memberId(member));
    return { person: nameOf(member, user), department: departmentOf(user), ...row };
  });
}

export interface UnmatchedFilter {
  readonly cause: string | undefined;
  /** `groups` or `since`; a text that begins with `-` sorts in descending order; empty for the usual order. */
  readonly sort: string;
  readonly from: number;
  readonly count: number;
}

/** Returns a part of the sorted list. `causes` counts all pending people, without the filter. */
export async function unmatchedPage(
  connection: ConnectionName,
  all: readonly Row[],
  { cause, sort, from, count }: UnmatchedFilter,
  ports: Pick<ToolPorts, 'users'>,
) {
  const found = all.filter((row) => cause === undefined || row.cause === cause);
  const causes: Record<string, number> = {};
  for (const row of all) causes[row.cause] = (causes[row.cause] ?? 0) + 1;
  const rows = sorted(found, sort).slice(from, from + count);
  return { rows: await namedUnmatched(connection, rows, ports), found: found.length, causes };
}

function sorted(rows: readonly Row[], sort: string): readonly Row[] {
  const sign = sort.startsWith('-') ? -1 : 1;
  const column = sort.replace(/^-/, '');
  if (column === 'groups') return rows.toSorted((a, b) => sign * (a.groups - b.groups));
  return column === 'since' ? rows.toSorted((a, b) => sign * (a.sinceMs - b.sinceMs)) : rows;
}
