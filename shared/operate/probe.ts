import type { ProbeReport } from '../contract/answers/connect.ts';
import type { ProbeFinding } from '../contract/contract-report.ts';
import { type PlatformGroupId, platformGroupId, platformUserId, type VersionToken } from '../domain/ids.ts';
import { isWhole, type ListedGroup, type ObservedGroup } from '../domain/view.ts';
import { meaningOf } from '../plan/meaning.ts';
import { foldName } from '../plan/names.ts';
import { openPlatform } from '../sync/open-platform.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { failureIn, type Platform, PlatformFailure } from '../sync/ports/platform.ts';
import type { FeedEvent } from '../sync/ports/reconcile.ts';
import { SCOPE_REFUSALS, type WriteScope } from './connect/inspect.ts';
import { type JournalPorts, journalOf, recordAction } from './journal.ts';
import { Refused } from './names.ts';
import { fixForGate } from './status.ts';

export type ProbePorts = JournalPorts &
  Pick<ToolPorts, 'gates' | 'platforms' | 'randomHex' | 'sleep'> & {
    readonly connections: Pick<ToolPorts['connections'], 'find' | 'list' | 'keepContract'>;
  };

interface ProbeRequest {
  readonly connection: Connection;
  /** If it fires, the probe ends before its next step. The group is deleted in any case. */
  readonly signal: AbortSignal;
}

interface TestGroup extends Pick<ProbeRequest, 'connection' | 'signal'> {
  readonly id: PlatformGroupId;
  /** The name of the test group, and also its spokeId. No other group has this name. */
  readonly name: string;
  readonly created: ObservedGroup;
  readonly platform: Platform;
  readonly ports: ProbePorts;
  /** The time from the creation of the group until a read by its id first showed it. */
  behindMs: number;
}

const WAIT_SECONDS = 20;
const POLL_MS = 1_000;
/** The read of the feed begins this long before the current time, because the platform's clock may differ. */
const SKEW_MS = 600_000;
const PATCH_VERSION = 'PATCH version';

type Step = readonly [about: string, run: (group: TestGroup) => Promise<string | readonly ProbeFinding[]>];
const STEPS: readonly Step[] = [
  ['new group', tryShowing],
  ['write scopes', tryScopes],
  [PATCH_VERSION, (group) => tryVersion('patch', group)],
  ['PUT version', (group) => tryVersion('put', group)],
  ['unknown user', tryUnknownUser],
  ['activity feed', tryActivity],
];

/**
 * Tests behaviour of the platform that the specification does not define. The probe creates one group without members,
 * and deletes it in any case.
 * @throws PlatformFailure if no group could be created; Refused if the gate is closed
 */
export async function probePlatform(
  { connection, signal }: ProbeRequest,
  ports: ProbePorts,
): Promise<ProbeReport> {
  await refuseClosedGate(connection, ports);
  const platform = await openPlatform(connection, ports);
  const name = `groupsync probe ${ports.randomHex(3)}`;
  const change = {
    kind: 'probe',
    before: null,
    after: name,
    reason: 'test of the behaviour of the platform',
  };
  await recordAction(journalOf(connection.name), { action: 'probe', changes: [change] }, ports);
  const created = await create(name, platform);
  // No other group has this name. A response with another name is about another group, so it is not used.
  const id = !(created instanceof PlatformFailure) && isNamed(name, created) ? created.id : undefined;
  const findings: ProbeFinding[] = [];
  let stopped: string | null = null;
  let left: readonly string[] = [];
  try {
    if (created instanceof PlatformFailure) throw created;
    if (id === undefined) throw new PlatformFailure('unavailable', 'the answer is about another group', {});
    const throwaway = { id: platformGroupId(id), name, created, behindMs: 0 };
    const group = { ...throwaway, connection, signal, platform, ports };
    for (const step of STEPS) findings.push(...(await tryStep(step, group)));
  } catch (error) {
    stopped = whyStopped(error, signal);
  } finally {
    const removal = await remove(id, name, { platform, ports }).catch(failureThat(() => true));
    if (removal instanceof PlatformFailure) left = [id ?? name];
    else findings.push(...removal);
  }
  const kept = stopped === null && showsPatchVersion(findings);
  const bound = { baseUrl: connection.settings.baseUrl, company: connection.company, atMs: ports.clock() };
  if (kept) await ports.connections.keepContract(connection.name, { ...bound, findings });
  return { findings, kept, stopped, left };
}

async function refuseClosedGate({ name }: Connection, { gates }: ProbePorts): Promise<void> {
  const { state } = await gates.read(name);
  const fix = fixForGate({ state }, name);
  if (fix !== undefined) throw new Refused(`nothing may be written now: the gate is ${state}; next: ${fix}`);
}

/** @returns the failure, if the group may exist although the call failed */
const create = (name: string, { groups }: Platform): Promise<ObservedGroup | PlatformFailure> =>
  groups.create({ name, spokeId: name, users: [] }).catch((error: unknown) => {
    if (!(error instanceof PlatformFailure)) throw error;
    if (error.kind === 'forbidden') throw new ScopeRefused('groups', error);
    if (meaningOf(error, 'create').happened !== 'unknown') throw error;
    return error;
  });

function whyStopped(error: unknown, signal: AbortSignal): string {
  if (error instanceof PlatformFailure) return error.message;
  if (signal.aborted) return 'it was interrupted';
  throw error;
}

const showsPatchVersion = (findings: readonly ProbeFinding[]): boolean => {
  const version = findings.find(({ about }) => about === PATCH_VERSION)?.found ?? '';
  return !version.startsWith('unknown');
};

/** Used in `catch`: returns a failure that counts as an answer, and throws any other error. */
const failureThat = (counts: (failure: PlatformFailure) => boolean) => (error: unknown) => {
  if (error instanceof PlatformFailure && counts(error)) return error;
  throw error;
};

const isNamed = (name: string, group: ListedGroup): boolean =>
  group.spokeId === name || (isWhole(group) && foldName(group.name) === name);

/** Runs a step. If a call fails, the finding is `unknown`, and the next steps still run. */
async function tryStep([about, run]: Step, group: TestGroup): Promise<readonly ProbeFinding[]> {
  group.signal.throwIfAborted();
  const found = await run(group).catch(failureThat((failure) => !(failure instanceof ScopeRefused)));
  if (found instanceof PlatformFailure) return [{ about, found: `unknown: ${found.message}` }];
  return typeof found === 'string' ? [{ about, found }] : found;
}

async function tryShowing(group: TestGroup): Promise<readonly ProbeFinding[]> {
  const { id, name, created } = group;
  const { groups } = group.platform;
  const startMs = group.ports.clock();
  const got = await until(() => groups.get(id), group);
  if (got.value !== undefined) group.behindMs = group.ports.clock() - startMs;
  const listed = await until(async () => (await groups.list(0)).find((one) => one.id === id), group);
  const shown = Object.entries({ answer: created, get: got.value, list: listed.value });
  const places = shown.flatMap(([place, one]) => (one?.spokeId === name ? [place] : []));
  return [
    { about: 'new group by its id', found: got.when },
    { about: 'new group in the list', found: listed.when },
    { about: 'spokeId shown by', found: places.join(', ') || 'nothing' },
    { about: 'users in a new group that was created without users', found: String(created.users.length) },
  ];
}

/** Tests the write scopes. If one is missing, the probe ends. */
async function tryScopes(group: TestGroup): Promise<readonly ProbeFinding[]> {
  const { id, name, created, platform } = group;
  const users = [platformUserId(`${name.replaceAll(' ', '-')}-unknown`)];
  const version = async () => (await platform.groups.get(id))?.version ?? created.version;
  await tryScope('groups', async () => platform.groups.patch(id, { name: `${name} scope` }, await version()));
  await tryScope('members', async () => platform.groups.patch(id, { users }, await version()));
  return [
    { about: 'write scope for groups', found: 'granted' },
    { about: 'write scope for group members', found: 'granted' },
  ];
}

async function tryScope(scope: WriteScope, write: () => Promise<unknown>): Promise<void> {
  const failure = await failureIn(write);
  if (failure?.kind === 'forbidden') throw new ScopeRefused(scope, failure);
}

/** Ends the probe. The message names the write scope that the credential does not have. */
class ScopeRefused extends PlatformFailure {
  constructor(scope: WriteScope, failure: PlatformFailure) {
    super('forbidden', `${SCOPE_REFUSALS[scope].join('; ')} (${failure.message})`, { cause: failure });
  }
}

/**
 * Sends a write with an old version, and reads the group afterwards. `honoured`: the platform refused the write and the
 * group did not change. `ignored`: the group changed. The result is unknown if the platform accepted the write without
 * effect, or if a write with the current version has no effect either.
 */
async function tryVersion(method: 'patch' | 'put', group: TestGroup): Promise<string> {
  const current = await write(method, { name: `${group.name} ${method}`, users: [] }, group);
  const stale = await write(method, { name: `${group.name} stale`, users: [] }, group, group.created.version);
  if (!current.isDone) return `unknown: the current version ${current.answer}, and nothing changes`;
  if (!stale.isDone) return `${stale.isRefused ? 'honoured' : 'unknown'}: a stale version ${stale.answer}`;
  return 'ignored';
}

/**
 * Tests whether one unknown user makes the platform refuse the whole write. The write also changes the name, so no real
 * user is needed to see whether it took effect.
 */
async function tryUnknownUser(group: TestGroup): Promise<string> {
  const unknownUser = platformUserId(`${group.name.replaceAll(' ', '-')}-unknown`);
  const written = await write('patch', { name: `${group.name} users`, users: [unknownUser] }, group);
  const taken = written.shown.users.includes(unknownUser) ? 'is kept' : 'is dropped';
  return `${written.isRefused ? written.answer : taken}; the rest of the write ${written.isDone ? 'takes effect' : 'has no effect'}`;
}

/**
 * Tests two parameters of the feed. With a start time, no event may be older. With a page size of one, a page must have
 * one event.
 */
async function tryActivity(group: TestGroup): Promise<readonly ProbeFinding[]> {
  const { id, connection, platform, ports, signal } = group;
  const { settings } = connection;
  const sinceMs = ports.clock() - SKEW_MS;
  const find = async () => {
    const found = await eventsOf(id, platform, sinceMs);
    return found.length > 1 ? found : undefined;
  };
  const { value: ours = [], when } = await until(find, group);
  const finding = { about: 'changes in the activity feed', found: when };
  const lastMs = Math.max(...ours.map(({ at }) => Date.parse(at ?? '')));
  if (!Number.isFinite(lastMs)) return [finding];
  await ports.sleep(2 * POLL_MS, signal);
  const later = await eventsOf(id, platform, lastMs + POLL_MS);
  const isLater = ours.every((event) => later.every((one) => one.id !== event.id));
  const activity = { ...settings.activity, pageSize: 1 };
  const small = await ports.platforms.open({ ...connection, settings: { ...settings, activity } });
  const page = await small.activity({ sinceMs })[Symbol.asyncIterator]().next();
  const isSingle = page.value?.events.length === 1;
  return [
    finding,
    { about: `activity parameter ${activity.startParam}`, found: isLater ? 'honoured' : 'ignored' },
    { about: `activity parameter ${activity.sizeParam}`, found: isSingle ? 'honoured' : 'ignored' },
  ];
}

async function eventsOf(id: PlatformGroupId, platform: Platform, sinceMs: number) {
  const found: FeedEvent[] = [];
  for await (const { events } of platform.activity({ sinceMs }))
    found.push(...events.filter(({ groups }) => groups.includes(id)));
  return found;
}

/** @throws PlatformFailure if the failure does not depend on the content of the write */
async function write(
  method: 'patch' | 'put',
  sent: { readonly name: string; readonly users?: ObservedGroup['users'] },
  { id, name: spokeId, platform, ports, signal, behindMs }: TestGroup,
  given?: VersionToken,
) {
  const { groups } = platform;
  const look = async () => {
    if (behindMs >= POLL_MS) await ports.sleep(behindMs + POLL_MS, signal);
    const shown = await groups.get(id);
    if (shown !== undefined) return shown;
    throw new PlatformFailure('not_found', `404 for ${id}, which was just created`, {});
  };
  const version = given ?? (await look()).version;
  const whole = { spokeId, users: [], ...sent };
  const call = method === 'put' ? groups.put(id, whole, version) : groups.patch(id, sent, version);
  const answer = await call.catch(failureThat((failure) => meaningOf(failure, 'change').next === 'compare'));
  const shown = await look();
  const isDone = [answer, shown].some(({ name }) => foldName(name) === foldName(sent.name));
  const isRefused = answer instanceof PlatformFailure;
  return {
    /** True if the group shows the name that was sent. White space and case are ignored. */
    isDone,
    isRefused,
    answer: isRefused ? `is refused with ${answer.status}` : 'is accepted',
    shown,
  };
}

async function until<Value>(
  read: () => Promise<Value | undefined>,
  { ports, signal }: { readonly ports: ProbePorts; readonly signal?: AbortSignal },
): Promise<{ readonly value?: Value; readonly when: string }> {
  for (const startMs = ports.clock(); ; await ports.sleep(POLL_MS, signal)) {
    const value = await read();
    const seconds = Math.round((ports.clock() - startMs) / 1_000);
    if (value !== undefined) return { value, when: seconds === 0 ? 'at once' : `after ${seconds} s` };
    if (seconds >= WAIT_SECONDS) return { when: `not within ${WAIT_SECONDS} s` };
  }
}

/**
 * Deletes the group, also after Ctrl-C. If no response contained its id, the group is searched by its name.
 * @throws PlatformFailure if the group may still exist
 */
async function remove(known: string | undefined, name: string, at: Pick<TestGroup, 'platform' | 'ports'>) {
  const { groups } = at.platform;
  const find = async () => (await groups.list(0)).find((group) => isNamed(name, group))?.id;
  const id = known ?? (await until(find, at)).value;
  if (id === undefined) throw new PlatformFailure('not_found', `no group ${name} is listed`, {});
  const groupId = platformGroupId(id);
  await groups.delete(groupId);
  const isGone = async () => (await groups.get(groupId)) === undefined || undefined;
  const gone = await until(isGone, at);
  if (!gone.value) throw new PlatformFailure('unavailable', `${id} is shown after it was deleted`, {});
  const isMissing = async () => (await groups.list(0)).every((group) => group.id !== id) || undefined;
  const missing = await until(isMissing, at);
  return [
    { about: 'deleted group gone by its id', found: gone.when },
    { about: 'deleted group gone from the list', found: missing.when },
  ];
}
