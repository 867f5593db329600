import { groupName } from '../domain/group.ts';
import type { GroupRef, PlatformUserId } from '../domain/ids.ts';
import { membersAt, type Stay, type StepChange, staysOf, stepsAfter } from '../plan/replay.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { UserState } from '../sync/ports/desired.ts';
import type { KeptEntry } from '../sync/ports/logs.ts';
import { readUndoReasons } from './log.ts';
import { formatPerson } from './names.ts';
import { type PastPorts, type RecordedStep, readHistory, usersOfHistory } from './past.ts';
import type { Period } from './verify-audit.ts';

/** One stay of a person in a group. Times are ISO; `joined` is null if the person was there at the start of the period. */
export interface Access {
  readonly group: string;
  readonly groupName: string | null;
  readonly user: string;
  readonly member: string | null;
  /** `erased` after `groupsync forget`. */
  readonly name: string | null;
  readonly joined: AccessChange | null;
  readonly left: AccessChange | null;
}

export interface AccessChange {
  readonly notBefore: string;
  readonly notAfter: string;
  readonly action: string;
  readonly actor: string;
  readonly approvedBy: string | null;
  readonly because: string;
}

/**
 * Returns who was in the platform group of a directory group, since when and until when, and by which event or decision.
 * The history of a group that moved to another source is in the group that has the platform group now.
 * @returns since when the members are known; undefined if they are not known
 * @throws NotFound
 */
export async function accessTo(
  ref: GroupRef,
  { sinceMs, untilMs }: Period,
  ports: PastPorts & Pick<ToolPorts, 'users' | 'people'>,
) {
  const { state, present, steps } = await readHistory(ref, sinceMs, ports);
  const nothing = { knownSinceMs: undefined, access: [] };
  if (state.ref.group !== ref.group) return nothing;
  const start = membersAt(sinceMs, present, steps);
  const fromMs = 'members' in start ? sinceMs : start.knownSinceMs;
  if (fromMs === undefined) return nothing;
  const past = 'members' in start ? start : membersAt(fromMs, present, steps);
  const { undone, last } = stepsAfter(fromMs, present.content, steps);
  const within = undone.filter(({ atMs }) => atMs <= untilMs).toReversed();
  const stays = staysOf('members' in past ? past.presence : new Map(), within, last?.sinceMs ?? fromMs);
  const { memberOf, known } = await usersOfHistory(ref, ports);
  const changes = within.flatMap(({ entry }) => entry.changes.map((change) => causedBy(change, entry)));
  const reasonOf = await readUndoReasons(ref.connection, changes, ports.audit);
  const rowOf = ({ user, joined, left }: Stay<RecordedStep>): Access => {
    const member = memberOf(user, joined?.step.atMs ?? fromMs);
    const person = member && known.get(member);
    return {
      group: ref.group,
      groupName: groupName(state.registers) ?? null,
      user,
      member: member ?? null,
      name: (person && nameOf(person)) ?? null,
      joined: joined ? changeOf(user, joined, reasonOf) : null,
      left: left ? changeOf(user, left, reasonOf) : null,
    };
  };
  return { knownSinceMs: fromMs, access: stays.map(rowOf) };
}

const nameOf = ({ attributes, erasedMs }: UserState): string | undefined =>
  formatPerson(attributes) ?? (erasedMs === undefined ? undefined : 'erased');

type Change = KeptEntry['changes'][number];

/** An entry names only the first of very many changes. */
function causedBy(change: Change | undefined, { actor, cause, causes = [] }: KeptEntry) {
  const number = change?.cause ?? (causes.length === 1 ? 0 : -1);
  return { kind: '', reason: '', ...change, approved: undefined, actor, cause, ...causes[number] };
}

function changeOf(
  user: PlatformUserId,
  { step, notBeforeMs }: StepChange<RecordedStep>,
  reasonOf: (change: ReturnType<typeof causedBy>) => string,
): AccessChange {
  const { entry } = step;
  const change = entry.changes.find(
    (one) => one.kind === 'delete_group' || [one.before, one.after].includes(user),
  );
  const caused = causedBy(change, entry);
  const { cause, actor, approved } = caused;
  return {
    notBefore: new Date(notBeforeMs).toISOString(),
    notAfter: new Date(step.untilMs ?? step.atMs).toISOString(),
    action: entry.action,
    actor: entry.action === 'external_change' ? 'another client' : (actor.name ?? actor.id),
    approvedBy: approved?.by ?? null,
    because: [reasonOf(caused), entry.reason, cause].filter(Boolean).join('; '),
  };
}
