import type { HeldMember } from '../../shared/contract/answers/holds.ts';
import { type Hold, type HoldDecision, holdsOf } from '../../shared/domain/hold.ts';
import { NotFound } from '../../shared/operate/find-group.ts';
import { readHeldMembers } from '../../shared/operate/held-members.ts';
import { recordRead } from '../../shared/operate/reads.ts';

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
  return { state, hold, others: holds.filter((one) => one !== hold), members, formatMember };
}

export function formatHold(
  group: string,
  { removes, keeps, share, rule, decision }: Hold,
): readonly string[] {
  const decided = formatDecision(decision);
  const lines = [
    `${group}: ${plural(removes, 'removal')}, ${plural(keeps, 'member')} would stay (removed share ${percent(share)}, rule ${rule})`,
  ];
  if (rule === 'deleted_groups')
    lines.push('the directory deleted the group, and many other groups within an hour');
  if (decided !== undefined) lines.push(`already decided: ${decided}`);
  return lines;
}

export const formatDecision = (decision: HoldDecision): string | undefined =>
  decision.kind === 'waiting'
    ? undefined
    : `${decision.kind} by ${decision.by} at ${new Date(decision.atMs).toISOString()}, ${decision.reason}`;
