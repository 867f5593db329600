import type { BlockRow } from '../contract/answers/block.ts';
import type { ExplainedRule } from '../contract/answers/explain.ts';
import { policyFor } from '../contract/group-policy.ts';
import { fieldName, soughtValues } from '../contract/match-rule.ts';
import { matchRules } from '../contract/settings.ts';
import { type Block, blockOf } from '../domain/block.ts';
import type { Gate } from '../domain/gate.ts';
import type { GroupState } from '../domain/group-state.ts';
import { type MemberId, platformUserId, roleId } from '../domain/ids.ts';
import { STAMP_ZERO } from '../domain/stamp.ts';
import { whyMoving } from '../plan/release.ts';
import { causeOfState, removalText, whyUncounted } from '../plan/removal-cause.ts';
import { stopOf } from '../plan/stop.ts';
import type { Verdict, VerdictInput } from '../plan/verdict.ts';
import { learn } from '../sync/apply/load.ts';
import { type PreviewPorts, previewGroup, readingOf, undisturbed } from '../sync/apply/preview.ts';
import {
  currentEligibility,
  eligibilityOf,
  type MemberEligibility,
  refusedRevisionOf,
} from '../sync/match/resolve.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { type UserState, undescribed } from '../sync/ports/desired.ts';
import { GONE, type Person } from '../sync/ports/people.ts';
import { registersIn } from './find-member.ts';
import { shellWords } from './names.ts';
import { mayBeRehire, rehireOf } from './rehires.ts';

type WhoPorts = PreviewPorts & Pick<ToolPorts, 'groups' | 'users' | 'people'>;

export type Who = Awaited<ReturnType<typeof identify>>;

export async function identify(member: MemberId, state: GroupState, connection: Connection, ports: WhoPorts) {
  const { name, settings } = connection;
  const [[register], users] = await Promise.all([
    registersIn(state, [member], ports),
    ports.users.read(name, [member]),
  ]);
  const user = users.get(member);
  const { role, userId } = register?.user ?? {};
  const copied = { ...(role !== undefined && { role }), ...(userId !== undefined && { userId }) };
  const described = user ?? { ...undescribed(member), ...copied };
  const refusedRevision = refusedRevisionOf(register?.pending, ports.clock());
  const [rules, { cause, person }] = await Promise.all([
    tryRules(connection, member, user, ports),
    currentEligibility(described, refusedRevision, { connection, people: ports.people }),
  ]);
  const platformUser = person && eligibilityOf(person, undefined, settings).id;
  const rehire = mayBeRehire(cause) ? await rehireOf(user, connection, ports) : undefined;
  return { member, register, user, rules, person, platformUser, cause, rehire };
}

export const verdictFacts = (
  who: Who,
  {
    connection,
    gate,
    ...about
  }: Pick<VerdictInput, 'facts' | 'decision'> & { readonly connection: Connection; readonly gate: Gate },
): VerdictInput => ({
  ...about,
  obstacle: obstacleTo(about.facts.state, connection, gate, about.facts.nowMs),
  member: who.member,
  user: who.platformUser === undefined ? undefined : platformUserId(who.platformUser),
  whyPending: whyPending(who, connection),
  whyBlocked: whyBlocked(who, connection),
  userFloor: who.user?.floor ?? who.register?.user?.floor ?? STAMP_ZERO,
  uncounted: who.user && whyUncounted(who.user.attributes, connection.settings),
});

/**
 * Returns the decision of apply, and the facts with the wanted members and the views, which operators are always shown.
 * They are read here if the decision did not need them.
 */
export const previewWhole = (state: GroupState, connection: Connection, ports: WhoPorts) =>
  undisturbed(state, ports, async (now) => {
    const { decision, facts } = await previewGroup(now, connection, ports);
    const isWhole = facts.wanted !== undefined && facts.views !== undefined;
    if (isWhole) return { decision, facts };
    const reading = readingOf(facts.state, connection, ports);
    return { decision, facts: await learn({ kind: 'read', what: ['wanted', 'views'] }, facts, reading) };
  });

export function obstacleTo(
  state: GroupState,
  connection: Connection,
  gate: Gate,
  nowMs: number,
): Verdict | undefined {
  const { group } = state.ref;
  const stop = stopOf(state, connection, gate);
  if (state.openMove !== undefined) return { outcome: 'moving', detail: whyMoving(state.openMove, nowMs) };
  if (stop === 'observing')
    return { outcome: stop, detail: 'the connection only observes: groupsync resume' };
  if (stop === 'paused')
    return { outcome: stop, detail: `the group is paused: groupsync resume ${shellWords(group)}` };
  if (policyFor(connection.settings, group, state.registers.name?.value).mode === 'report')
    return {
      outcome: 'observing',
      detail: 'the settings do not let groupsync write this group (mode report)',
    };
  if (stop === 'gate_closed')
    return { outcome: stop, detail: `nothing is written while the gate is ${gate.state}: groupsync doctor` };
  return undefined;
}

export const blockAbout = ({ member, person, platformUser }: Who, { blocks }: Connection) =>
  blockOf(blocks, { ...person, member }) ??
  (platformUser === undefined
    ? undefined
    : blockOf(blocks, { role: roleId(platformUser), userId: platformUser }));

export const blockRow = ({ members, roles, users, by, atMs, reason, unblock }: Block): BlockRow => ({
  members,
  roles,
  users,
  by,
  at: new Date(atMs).toISOString(),
  reason,
  unblockRequestedBy: unblock?.by ?? null,
});

export const formatBlock = ({ by, atMs, reason }: Pick<Block, 'by' | 'atMs' | 'reason'>): string =>
  `blocked by ${by} at ${new Date(atMs).toISOString()}: ${reason}`;

function whyBlocked(who: Who, connection: Connection): string | undefined {
  const block = blockAbout(who, connection);
  return block && formatBlock(block);
}

const whyPending = (who: Who, connection: Connection): string => WHY_PENDING[who.cause](who, connection);

const WHY_PENDING: Readonly<
  Record<MemberEligibility['cause'], (who: Who, connection: Connection) => string>
> = {
  solved: ({ register }) =>
    register?.pending?.hidden === undefined
      ? ''
      : 'the answer of the platform to the last write did not show the user; groupsync sends the user with each write, at first again after an hour and later at least once a day',
  blocked: (who, connection) => whyBlocked(who, connection) ?? '',
  refused: () => 'the platform refuses each write that adds the user; groupsync tries again once a day',
  ambiguous: (who) => {
    const decisive = who.rules.find(({ found }) => found.length > 0);
    const others = decisive?.found.flatMap(({ id }) => (id === who.user?.role ? [] : [id])) ?? [];
    const values = decisive && `${decisive.rule.split('=')[1]} of ${others.join(', ')}`;
    return withRehire(removalText('ambiguous', values), who);
  },
  inactive: (who, { settings }) => {
    const state = who.person?.state;
    const excluded = `${state}, not ${settings.includeStates.join(' or ')}`;
    if (state === undefined || state === GONE) return withRehire(removalText('gone'), who);
    const cause = causeOfState(state);
    return withRehire(removalText(cause, cause === 'ended' ? state : excluded), who);
  },
  unknown: ({ user, rules, person }) => {
    if (person !== undefined) return `the platform does not show the userId of ${person.role}`;
    if (user?.role !== undefined) return removalText('unknown_person', user.role);
    const values = rules.filter(({ value }) => value !== null);
    return values.length === 0
      ? `no event gave the member an attribute that a match rule uses (${rules.map(({ rule }) => rule).join(', ')})`
      : `no employee has this value: ${values.map(({ rule, value }) => `${rule} "${value}"`).join(', ')}`;
  },
};

const withRehire = (why: string, { member, rehire }: Who): string =>
  rehire === undefined
    ? why
    : `${why}; the ACTIVE employee ${rehire} also matches: groupsync rebind ${shellWords(member, rehire)}`;

async function tryRules(
  { name, settings }: Connection,
  member: MemberId,
  user: UserState | undefined,
  { people }: Pick<WhoPorts, 'people'>,
): Promise<readonly ExplainedRule[]> {
  const tries = matchRules(settings).map(async (rule) => {
    const { memberAttribute, employeeField } = rule;
    const value = memberAttribute === 'id' ? member : user?.attributes.get(memberAttribute)?.value;
    const field = fieldName(employeeField);
    let found: readonly Person[] = [];
    for (const sought of soughtValues(rule, { member, attributes: user?.attributes }))
      if (found.length === 0) found = await people.holding(name, field, sought);
    const holders = found.map(({ role, state }) => ({ id: role, state }));
    return { rule: `${memberAttribute}=${field}`, value: value ?? null, found: holders };
  });
  return Promise.all(tries);
}
