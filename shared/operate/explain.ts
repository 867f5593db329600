import type { ExplainedEvent, Explanation, LogEntry } from '../contract/answers/explain.ts';
import type { GroupState } from '../domain/group-state.ts';
import { type GroupRef, type MemberId, memberId, roleId } from '../domain/ids.ts';
import { readStamp, STAMP_ZERO } from '../domain/stamp.ts';
import { personsOf } from '../plan/person.ts';
import { isPresent, isWanted, verdictOf } from '../plan/verdict.ts';
import { reportWaiting, waitingOf } from '../plan/waiting.ts';
import type { PreviewPorts } from '../sync/apply/preview.ts';
import { eligibilityOf } from '../sync/match/resolve.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import type { Person } from '../sync/ports/people.ts';
import { findMember as findAmongAll, registersIn, rolesHolding } from './find-member.ts';
import { type LogPorts, readLog, shownActor } from './log.ts';
import { type NamesPorts, NoMatch, NotFound, undefinedIfNoMatch, usersOf } from './names.ts';
import { blockAbout, blockRow, identify, previewWhole, verdictFacts, type Who } from './who.ts';

type ExplainPorts = PreviewPorts &
  LogPorts &
  NamesPorts &
  Pick<ToolPorts, 'gates' | 'index' | 'people' | 'connections' | 'scim'>;

/**
 * Explains one member of one group: the wanted state in the directory, the person of the member, and the decision of
 * apply.
 * @param text the member's id in the directory, or a value of one of the member's attributes, such as an e-mail
 * address. If no event has named the person, the text may also be an address or id on the platform
 * @throws NotFound if the group does not exist, if the text matches several members, or if it matches no member, no
 * person and no user of the group
 */
export async function explainMember(
  ref: GroupRef,
  text: string,
  { connection, ports }: Explaining,
): Promise<Explanation> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new NotFound(`there is no group ${ref.group}`);
  const [{ member, isOutside, notFound, who, entries }, gate, { decision, facts }] = await Promise.all([
    findOut(state, text, { connection, ports }),
    ports.gates.read(ref.connection),
    previewWhole(state, connection, ports),
  ]);
  const asked = verdictFacts(who, { facts, decision, gate, connection });
  const verdict = verdictOf(asked);
  const block = blockAbout(who, connection);
  const byHand = isOutside ? formatManualChange(entries, who) : undefined;
  if (notFound && byHand === undefined && who.person === undefined && !isPresent(asked)) throw notFound;
  return {
    group: ref.group,
    member,
    present: isPresent(asked),
    because: byHand === undefined ? verdict.detail : `${byHand}; ${verdict.detail}`,
    wanted: isWanted(asked),
    events: eventsOf(facts.state, who),
    match: {
      rules: who.rules,
      bound: who.user?.role ?? who.register?.user?.role ?? null,
      person: who.person === undefined ? null : shown(who.person),
      user: who.platformUser ?? null,
      rehire: who.rehire ?? null,
    },
    decision: verdict,
    blocked: block === undefined ? null : blockRow(block),
    waiting: reportWaiting(waitingOf(state, ports.clock())),
    write: lastWrite(entries, who),
  };
}

export interface Explaining {
  readonly connection: Connection;
  readonly ports: ExplainPorts;
}

async function findOut(state: GroupState, text: string, { connection, ports }: Explaining) {
  const { member, isOutside = false, notFound } = await findMember(state, text, { connection, ports });
  const one = await identify(member, state, connection, ports);
  const who = notFound === undefined ? one : await withNotFound(one, text, connection, ports);
  return { member, isOutside, notFound, who, entries: await entriesAbout(state.ref, who, ports) };
}

const shown = ({ role, userId, state }: Person) => ({ id: role, userId: userId ?? null, state });

/**
 * Finds a member by id, by an attribute, or by an id on the platform, and prefers a member of this group. `isOutside` is
 * true for a member that no event has named in this group. `notFound` is the error if there is no such member.
 */
async function findMember(state: GroupState, text: string, { ports }: Explaining) {
  const { ref } = state;
  const id = memberId(text);
  if ((await registersIn(state, [id], ports)).length > 0) return { member: id };
  try {
    const member = await findAmongAll(ref.connection, text, ports);
    const isOutside = (await registersIn(state, [member], ports)).length === 0;
    const own = isOutside ? await ownOf(state, text, ports) : member;
    return own === undefined ? { member, isOutside } : { member: own };
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    const user = (await usersOf(ref, ports)).boundTo.get(text);
    if (user !== undefined) return { member: user.member };
    const own = error instanceof NoMatch ? undefined : await ownOf(state, text, ports);
    return own === undefined ? { member: id, isOutside: true, notFound: error } : { member: own };
  }
}

/** Returns the only member of the group with the text; undefined if the group has no such member. */
async function ownOf({ ref }: GroupState, text: string, ports: ExplainPorts) {
  const own = new Set((await ports.groups.members(ref)).map(({ member }) => member));
  const isOwn = (member: MemberId) => own.has(member);
  const found = await findAmongAll(ref.connection, text, ports, isOwn).catch(undefinedIfNoMatch);
  return found !== undefined && isOwn(found) ? found : undefined;
}

function eventsOf({ registers }: GroupState, { register, user }: Who): readonly ExplainedEvent[] {
  const { upserted, snapshot, deleted, name, author } = registers;
  const floor = user?.floor ?? STAMP_ZERO;
  const ofGroup = [
    { register: 'group.upserted', summary: 'the group exists', stamp: upserted },
    { register: 'group.snapshot', summary: 'all members were listed', stamp: snapshot },
    { register: 'group.deleted', summary: 'the group was deleted', stamp: deleted },
    ...(name === undefined ? [] : [{ register: 'group.name', summary: name.value, stamp: name.stamp }]),
  ].map((event) => ({ ...event, actor: author?.stamp === event.stamp ? author.actor : undefined }));
  const stored = [
    ...(register === undefined ? [] : [{ ...register, register: 'member', summary: register.value }]),
    ...ofGroup,
    { register: 'user.deleted', summary: 'the user was deleted', stamp: floor, actor: undefined },
  ];
  return stored.flatMap(({ register, summary, stamp, actor }) => {
    const event = stamp === STAMP_ZERO ? undefined : readStamp(stamp);
    if (event === undefined) return [];
    const { id, source, time } = event;
    return [{ register, summary, id, source, time, actor: actor === undefined ? null : shownActor(actor) }];
  });
}

/** Adds the person with this address or id on the platform. Without such a person, the text is used as a user id. */
async function withNotFound(
  who: Who,
  text: string,
  connection: Connection,
  { people }: ExplainPorts,
): Promise<Who> {
  const { name, settings } = connection;
  const byId = (await people.read(name, [roleId(text)])).get(roleId(text));
  const found = (await rolesHolding(text, connection, people)).map((roles) => personsOf(roles, settings));
  const person = who.person ?? byId ?? found.find(({ length }) => length === 1)?.[0]?.[0];
  const platformUser = person === undefined ? text : eligibilityOf(person, undefined, settings).id;
  return { ...who, person, platformUser };
}

const MOST_ENTRIES = 20;

const entriesAbout = async (
  { connection, group }: GroupRef,
  { member, platformUser }: Who,
  ports: ExplainPorts,
) => {
  const ids = new Set([member, platformUser].filter((id) => id !== undefined));
  return (await readLog(connection, { group, member: ids, limit: MOST_ENTRIES }, ports)).entries;
};

function formatManualChange(entries: readonly LogEntry[], { platformUser }: Who): string | undefined {
  const added = entries.findLast(({ action }) => action === 'drift_members_added');
  if (added === undefined) return undefined;
  const { id, name } = added.actor;
  const out = entries.find(
    ({ at, changes }) =>
      at > added.at && changes.some(({ before, after }) => before === platformUser && after === null),
  );
  const end = out === undefined ? '' : `, removed again at ${out.at}`;
  return `added by hand on the platform by ${name === null ? id : `${name} (${id})`} at ${added.at}${end}`;
}

function lastWrite(entries: readonly LogEntry[], { member, platformUser }: Who): Explanation['write'] {
  const write = entries.findLast(({ actor }) => actor.kind !== 'platform');
  const change = write?.changes.find(
    (one) => one.member === member || one.before === platformUser || one.after === platformUser,
  );
  if (write === undefined || change === undefined) return null;
  const { at, action, versionBefore, versionAfter, outcome } = write;
  const { reason, cause, event, actor, approved } = change;
  return { at, action, reason, cause, event, actor, approved, versionBefore, versionAfter, outcome };
}
