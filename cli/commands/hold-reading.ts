import type { HeldMember } from '../../shared/contract/answers/holds.ts';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { type Hold, type HoldDecision, holdsOf } from '../../shared/domain/hold.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import { readHeldMembers } from '../../shared/operate/held-members.ts';
import { recordRead } from '../../shared/operate/reads.ts';
import { limitOf } from '../../shared/plan/guard-limit.ts';

import type { Context } from '../context.ts';
import { percent, plural } from '../output/words.ts';

export type FormatMember = (member: HeldMember) => string;

/**
 * Reads the hold whose digest begins with `digest`. If there is none, reads the first hold of the group. @throws
 * NotFound if the group has no hold
 */
export async function readHold(context: Context, group: string, digest?: string) {
  const ref = await context.group(group);
  const ports = await context.ports();
  const state = await ports.groups.read(ref);
  const holds = holdsOf(state ?? {});
  const asked = holds.find((one) => digest !== undefined && one.digest.startsWith(digest));
  const hold = asked ?? holds[0];
  if (state === undefined || hold === undefined)
    throw new NotFound(`${group} has no hold; to list all holds: groupsync holds`);
  const members = await readHeldMembers(state, hold, ports);
  await recordRead(ref.connection, { what: 'hold', group: ref.group }, ports);
  const names = await context.names({ members: members.flatMap(({ member }) => member ?? []) });
  const formatMember: FormatMember = ({ member, user }) => (member === null ? user : names.member(member));
  const guard = (await ports.connections.current(ref.connection))?.settings.guard ?? null;
  return { state, hold, guard, others: holds.filter((one) => one !== hold), members, formatMember };
}

export function formatHold(group: string, hold: Hold, guard: ConnectionSettings['guard']): readonly string[] {
  const { removes, keeps } = hold;
  return [
    `${group}: ${plural(removes, 'removal')}, ${plural(keeps, 'member')} would stay`,
    limitOf(hold, guard),
    ...notesOf(hold),
  ];
}

/**
 * Returns the lines before a decision that does not remove all held members.
 * @param decided the number of removals to decide; undefined for all
 */
export function formatDecided(group: string, hold: Hold, decided?: number): readonly string[] {
  const { removes, keeps } = hold;
  const held = plural(removes, 'held removal');
  const what = decided === undefined ? held : `${decided} of the ${held}`;
  const members = removes + keeps;
  const share = percent((decided ?? removes) / Math.max(1, members));
  return [`${group}: ${what} (${share} of ${plural(members, 'member')})`, ...notesOf(hold)];
}

function notesOf({ rule, decision }: Hold): readonly string[] {
  const decided = formatDecision(decision);
  const lines: string[] = [];
  if (rule === 'deleted_groups')
    lines.push('the directory deleted the group, and many other groups within 75 minutes');
  if (rule === 'emptied_groups')
    lines.push('many other groups with few members also lost most of their members within 75 minutes');
  if (decided !== undefined) lines.push(`already decided: ${decided}`);
  return lines;
}

export const formatDecision = (decision: HoldDecision): string | undefined =>
  decision.kind === 'waiting'
    ? undefined
    : `${decision.kind} by ${decision.by} at ${new Date(decision.atMs).toISOString()}, ${decision.reason}`;
