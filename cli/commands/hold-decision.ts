import type { HeldMember } from '../../shared/contract/answers/holds.ts';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { type Hold, type HoldDecision, holdsOf } from '../../shared/domain/hold.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { readHeldRemovals } from '../../shared/operate/held-members.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { findOne, NotFound, withId } from '../../shared/operate/names.ts';
import { limitOf } from '../../shared/plan/guard-limit.ts';
import type { DecidedHold } from '../../shared/sync/ports/decisions.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { canAsk } from '../output/ask.ts';
import { percent, plural, shellWords } from '../output/words.ts';

export interface HoldOptions {
  readonly reason?: string;
  readonly digest?: string;
  readonly again?: boolean;
  readonly member?: readonly string[];
}

export async function decideHold(
  context: Context,
  group: string,
  decision: HoldOptions,
  name: 'approve' | 'reject',
) {
  const { out, io } = context;
  if (!canAsk(io)) await context.reason(decision.reason);
  const read = await readHold(context, group, decision.digest);
  const { state, hold, members, formatMember } = read;
  const { ref } = state;
  const digest = digestOf(read, decision);
  refuseDecided(read, decision, context.yes);
  const named = decision.member ?? [];
  const chosen = new Set(named.map((text) => heldMember(text, members, formatMember)));
  const leaving = chosen.size === 0 ? members : members.filter(({ user }) => chosen.has(user));
  noteRemovals(read, { leaving, isApproval: name === 'approve' }, out.note);
  if (digest !== hold.digest)
    out.note(
      'only the removals of the given digest are decided; the removals of the hold have changed since then',
    );
  const reason = await context.reason(decision.reason);
  const removes = chosen.size === 0 ? hold.removes : leaving.length;
  const question = name === 'approve' ? approveQuestion(removes) : rejectQuestion(removes);
  if (!(await context.confirm(question))) return EXIT.failed;
  const request = { reason, digest, decision: hold.decision };
  const some = chosen.size === 0 ? {} : { users: [...chosen].map(platformUserId) };
  const { decisions } = await context.ports();
  const outcome = await decisions.hold({ ...ref, isApproved: name === 'approve', ...some, request });
  out.answer({ group: ref.group, outcome: outcome.kind, digest }, () =>
    out.line(formatOutcome(outcome, name)),
  );
  return outcome.kind === 'decided' ? EXIT.done : EXIT.attention;
}

const approveQuestion = (removes: number): string =>
  removes === 0 ? 'Delete the group?' : `Remove ${plural(removes, 'member')}?`;

const rejectQuestion = (removes: number): string =>
  removes === 0 ? 'Keep the group?' : `Reject ${plural(removes, 'removal')}?`;

type ReadHold = Awaited<ReturnType<typeof readHold>>;

/**
 * Returns the digest of the hold to decide. A complete digest is returned unchanged, even if the removals of the hold
 * have changed.
 * @throws NotFound if a digest prefix does not match the hold
 */
function digestOf({ state, hold }: ReadHold, { digest: given }: HoldOptions): string {
  const digest = given?.length === hold.digest.length ? given : hold.digest;
  if (digest.startsWith(given ?? '')) return digest;
  throw new NotFound(
    `the hold has changed (digest ${hold.digest.slice(0, 12)}); review it: groupsync holds show ${shellWords(state.ref.group)}`,
  );
}

/** @throws Error if a script (`--yes`) would replace an earlier decision without `--again` */
function refuseDecided({ state, hold }: ReadHold, { again }: HoldOptions, isScript: boolean): void {
  const decided = formatDecision(hold.decision);
  if (decided === undefined || !isScript || again === true) return;
  throw new Error(
    `the hold of ${state.ref.group} is already decided: ${decided}. To decide it again, run without --yes, or add --again`,
  );
}

function noteRemovals(
  { state, hold, guard, members, formatMember }: ReadHold,
  { leaving, isApproval }: { readonly leaving: readonly HeldMember[]; readonly isApproval: boolean },
  note: (text: string) => void,
): void {
  const isWhole = leaving.length === members.length;
  const group = withId(state.registers.name?.value, state.ref.group);
  const decided = isWhole ? undefined : leaving.length;
  const lines = isWhole && isApproval ? formatHold(group, hold, guard) : formatDecided(group, hold, decided);
  for (const line of lines) note(line);
  for (const member of leaving.slice(0, SHOWN)) note(`  - ${formatMember(member)}`);
  if (leaving.length > SHOWN) note(`  … and ${leaving.length - SHOWN} more`);
  const others = members.length - leaving.length;
  if (others > 0) note(`${plural(others, 'other removal')} ${others === 1 ? 'stays' : 'stay'} held`);
}

const SHOWN = 20;

function heldMember(text: string, members: readonly HeldMember[], formatMember: FormatMember): string {
  const all = members.map((one) => {
    const { user, member, name, email } = one;
    const names = [user, member, name, email].filter((one) => one !== null);
    return { item: user, names, label: formatMember(one) };
  });
  return findOne(text, all, `no removal of "${text}" is held in this group`);
}

function formatOutcome(outcome: DecidedHold, name: string): string {
  if (outcome.kind === 'all_or_none')
    return 'nothing was changed; the directory deleted the group, so only all removals can be decided together';
  if (outcome.kind === 'decided')
    return name === 'approve' ? 'approved; the write follows' : 'rejected; the members stay';
  const hold = outcome.kind === 'changed' ? outcome.hold : undefined;
  const decided = hold && formatDecision(hold.decision);
  if (decided !== undefined) return `nothing was changed; another operator decided the hold: ${decided}`;
  return 'nothing was changed; the hold has changed; review it: groupsync holds';
}

export type FormatMember = (member: HeldMember) => string;

export async function readHold(context: Context, group: string, digest?: string) {
  const ref = await context.group(group);
  const ports = await context.ports();
  const state = await ports.groups.read(ref);
  const holds = holdsOf(state ?? {});
  const asked = holds.find((one) => digest !== undefined && one.digest.startsWith(digest));
  const hold = asked ?? holds[0];
  if (state === undefined || hold === undefined)
    throw new NotFound(`${group} has no hold; to list all holds: groupsync holds`);
  const connection = await ports.connections.current(ref.connection);
  const removals = connection === undefined ? [] : await readHeldRemovals(state, hold, connection, ports);
  const members = removals.map(({ by, ...member }): HeldMember => member);
  await recordRead(ref.connection, { what: 'hold', group: ref.group }, ports);
  const names = await context.names({ members: members.flatMap(({ member }) => member ?? []) });
  const formatMember: FormatMember = ({ member, user }) => (member === null ? user : names.member(member));
  const guard = connection?.settings.guard ?? null;
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

function formatDecided(group: string, hold: Hold, decided?: number): readonly string[] {
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
