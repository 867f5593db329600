import { eachField, FIELD_NAMES } from '../domain/group-fields.ts';
import { type PlatformUserId, platformUserId } from '../domain/ids.ts';
import type { Stamp } from '../domain/stamp.ts';
import type { View, Waiver } from '../domain/view.ts';

/*
 * A view as lines: name, spokeId, then a line per user (`+` ours, `-` somebody else's), then what is waived and the
 * other form of the name, each line beginning with `!`. Encoding keeps a line a line, whatever an id holds.
 */

const ALIAS = '!alias ';

export function* viewLines({ name, alias, spokeId, users, waiver }: View): Iterable<string> {
  yield encodeURIComponent(name);
  yield spokeId === null ? '-' : `+${encodeURIComponent(spokeId)}`;
  for (const [user, mine] of users) yield `${mine ? '+' : '-'}${encodeURIComponent(user)}`;
  if (waiver !== undefined) yield* waiverLines(waiver);
  if (alias !== undefined) yield `${ALIAS}${encodeURIComponent(alias)}`;
}

export function viewFrom([name = '', spokeId = '', ...rest]: readonly string[]): View {
  const other = rest.find((line) => line.startsWith(ALIAS));
  const waived = rest.filter((line) => line.startsWith('!') && line !== other);
  const users = rest.filter((line) => !line.startsWith('!'));
  return {
    name: decodeURIComponent(name),
    ...(other === undefined ? {} : { alias: decodeURIComponent(other.slice(ALIAS.length)) }),
    spokeId: spokeId.startsWith('+') ? decodeURIComponent(spokeId.slice(1)) : null,
    users: new Map(users.map((line) => [decodeUser(line.slice(1)), line.startsWith('+')])),
    ...(waived.length === 0 ? {} : { waiver: waiverFrom(waived) }),
  };
}

export const decodeUser = (line: string): PlatformUserId => platformUserId(decodeURIComponent(line));

function* waiverLines({ policy, seen, present, absent, ...fields }: Waiver): Iterable<string> {
  yield `!policy ${policy}`;
  yield `!seen ${seen}`;
  for (const field of FIELD_NAMES) if (fields[field]) yield `!${field}`;
  for (const user of present) yield `!+${encodeURIComponent(user)}`;
  for (const user of absent) yield `!-${encodeURIComponent(user)}`;
}

function waiverFrom(lines: readonly string[]): Waiver {
  const after = (prefix: string) =>
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length));
  return {
    policy: after('!policy ')[0] === 'adopt' ? 'adopt' : 'report',
    seen: (after('!seen ')[0] ?? '') as Stamp,
    ...eachField((field) => lines.includes(`!${field}`)),
    present: new Set(after('!+').map(decodeUser)),
    absent: new Set(after('!-').map(decodeUser)),
  };
}
