import type { Dispatcher } from 'undici';
import type { HeldGroup, PlatformCall, PlatformWrite } from '../../../simulate/platform/facts.ts';
import type { SimulatedPlatform } from '../../../simulate/platform/platform.ts';
import { createSimulatedPlatform, PLAIN_TRAITS } from '../../../simulate/platform/platform.ts';
import { requestOf, type Sent } from '../../../simulate/platform/request.ts';
import {
  type GroupBody,
  type GroupContent,
  type InitiatorType,
  shownGroup,
} from '../../../simulate/platform/rules.ts';
import { seededRandom } from '../../../simulate/random.ts';
import type { ClientAction, PersonSpec, PlatformFault, Traits } from '../../../simulate/simulation-run.ts';
import type { Worker } from '../../../simulate/worker.ts';

/** What the caller of a faulty call gets: an HTTP status, or a connection error with this code. */
type FaultOutcome = number | 'ECONNREFUSED' | 'ECONNRESET';

/** The faults of one call, with what the caller gets. The call takes effect before the answer, or never. */
export const CALL_FAULTS = {
  unreached: ['never', 'ECONNREFUSED'],
  lost_before: ['never', 'ECONNRESET'],
  lost_after: ['before', 'ECONNRESET'],
  /** The call takes effect later, at most a minute after it. */
  lost_late: ['never', 'ECONNRESET'],
  throttled: ['never', 429],
  unavailable_before: ['never', 500],
  unavailable_after: ['before', 504],
  forbidden: ['never', 403],
  unauthorized: ['never', 401],
} as const;
export type CallFault = 'none' | keyof typeof CALL_FAULTS;

/** Returns what the caller gets of a call with this fault, if the call takes effect `when`. */
function outcomeOf(fault: CallFault, when: 'never' | 'before'): FaultOutcome | undefined {
  if (fault === 'none') return undefined;
  const [takesEffect, outcome] = CALL_FAULTS[fault];
  return takesEffect === when ? outcome : undefined;
}

/** A call with the fault `lost_late` takes effect at most this time after the call. */
const LATEST_MS = 60_000;
const TOKEN = 'token';

/** Traits of the simulated platform, such as its form of names. A missing trait has its plain value. */
export interface PlatformOptions extends Partial<Traits> {
  readonly nowMs: () => number;
  readonly company?: string;
  /**
   * Returns the name that the platform stores for a sent name. It replaces the trait `names` for other forms of names.
   */
  readonly nameAs?: (name: string) => string;
  readonly spokeIdAs?: (spokeId: string) => string;
}

/** The list of ids to which a platform fault applies. `add` adds an id, and `clear` removes all ids. */
interface IdList {
  add(id: string): void;
  clear(): void;
}

/** The first id in each list. No user has this id. An empty list could mean that the fault applies to every id. */
const NO_ID = 'no id';

type Responding = 'get' | 'create' | 'patch' | 'put';
type Shown = Pick<HeldGroup, 'id' | 'spokeId' | 'users'>;

/**
 * The simulated platform for tests of the engine. A test can set faults for single calls and single groups. The
 * platform records two effects as violations. groupsync must not create a second group with the same external id. It
 * must not write to another client's group that is not in `adopted`.
 */
export class TestPlatform {
  readonly violations: string[] = [];
  /** Ids of groups of other clients that groupsync may write to. A test adds the groups that groupsync adopts. */
  readonly adopted = new Set<string>();
  /** Users that the platform silently leaves out of every write. */
  readonly refused: IdList;
  /** Users that the platform silently keeps in a group when a write removes them. */
  readonly kept: IdList;
  /** Users for which the platform refuses the whole write with status 422. */
  readonly unacceptable: IdList;
  /** Ids of groups that the platform shows with the name null, which the specification does not allow. */
  readonly malformed = new Set<string>();
  /** Whether the platform answers every request about the group with this id with 404, although the group exists. */
  hidden: (id: string) => boolean = () => false;
  /** Whether the groups of `hidden` are missing from the list of all groups too. */
  hidesFromList = true;
  /** Ids of existing groups and employees that lists leave out. */
  readonly notInList = new Set<string>();
  /** Ids of employees that the platform shows without any field except the id. */
  readonly undescribed = new Set<string>();
  /** Returns the users that an answer shows. The arguments are the kind of the call and the true users of the group. */
  showing: (kind: string, users: readonly string[]) => readonly string[] = (_, users) => users;
  /** The maximum number of groups in the list of all groups. The list shows the oldest groups. */
  listLimit = Number.POSITIVE_INFINITY;
  /** Returns the status with which the platform refuses a request; undefined if it accepts the request. */
  failing: (kind: string, query: string) => number | undefined = () => undefined;
  /** Returns the page size of the feed and of employees; undefined for the requested size. */
  pageSize: () => number | undefined = () => undefined;
  /** Returns the status with which the platform refuses the list of all groups; undefined if it accepts the request. */
  listing: () => number | undefined = () => undefined;
  /** Whether the platform answers every request about the group with this id with 403. */
  forbidden: (id: string) => boolean = () => false;
  /** Returns the id of another group that the platform shows by mistake in its answer to this kind of call. */
  confused: (call: Responding) => string | undefined = () => undefined;
  /**
   * Returns the status with which the platform refuses a write with this content; undefined if it accepts the write.
   */
  refusal: (spokeId: string | null, users: readonly string[], sent: GroupBody) => number | undefined = () =>
    undefined;
  /**
   * Whether the answer to a call of this kind shows the group as it was before the write. With `true`, the answer has
   * the version from before the write. With `new version`, the answer has the version from after the write. The answer
   * to a creation shows the new group without users.
   */
  behind: (kind: Responding) => boolean | 'new version' = () => false;
  secretVersion = 'secret-1';
  readonly #nowMs: () => number;
  readonly #simulated: SimulatedPlatform;
  readonly #traits: { -readonly [Name in keyof Traits]: Traits[Name] };
  readonly #nameAs: (name: string) => string;
  readonly #spokeIdAs: (spokeId: string) => string;
  readonly #late: { readonly run: () => void; readonly latestMs: number }[] = [];
  #checkedWrites = 0;

  constructor({ nowMs, company = 'company', ...options }: PlatformOptions) {
    const { nameAs = (name) => name, spokeIdAs = (spokeId) => spokeId, ...traits } = options;
    this.#nowMs = nowMs;
    this.#nameAs = nameAs;
    this.#spokeIdAs = spokeIdAs;
    this.#traits = { ...PLAIN_TRAITS, ...traits };
    this.#simulated = createSimulatedPlatform({
      company,
      clock: nowMs,
      random: seededRandom(1),
      traits: this.#traits,
      runLog: { log() {}, fired() {}, violated() {} },
      sleep: async () => {},
    });
    this.#simulated.tokens.add(TOKEN);
    this.refused = this.#about('drops_users');
    this.kept = this.#about('keeps_users');
    this.unacceptable = this.#about('refuses_user_422');
  }

  /** Starts a platform fault that never ends. @returns the list of ids to which the fault applies */
  #about(platformFault: PlatformFault): IdList {
    const about = [NO_ID];
    this.begin(platformFault, 1, about);
    return { add: (id) => about.push(id), clear: () => about.splice(1) };
  }

  /** Starts a platform fault that never ends. `share` is the probability that the fault takes effect. */
  begin(platformFault: PlatformFault, share: number, about: readonly string[] = []): void {
    this.#simulated.begin({
      kind: 'platformFault',
      platformFault,
      about,
      share,
      forMs: Number.POSITIVE_INFINITY,
    });
  }

  get groups(): ReadonlyMap<string, HeldGroup> {
    return this.#simulated.groups;
  }

  /** The recorded requests, in order, without those that a setting of the test refuses before their effect. */
  get calls(): readonly PlatformCall[] {
    return this.#simulated.calls;
  }

  /** All writes of groupsync that took effect, in order. */
  get writes(): readonly PlatformWrite[] {
    return this.#simulated.writes;
  }

  readonly secrets = {
    read: async () => ({ value: { token: TOKEN }, version: this.secretVersion }),
    write: async () => this.secretVersion,
  };

  /** Returns the dispatcher of one worker. The dispatcher calls `faultOf` once for each request. */
  dispatcherFor(worker: Worker, faultOf: (call: string) => CallFault): Dispatcher {
    // The client calls only `request` of a dispatcher.
    return { request: (sent: Sent) => this.#answer(sent, worker, faultOf) } as unknown as Dispatcher;
  }

  async #answer(given: Sent, worker: Worker, faultOf: (call: string) => CallFault) {
    const sent = this.#renamed(given);
    let fault: CallFault = 'none';
    let refused: number | undefined;
    const effect = async (kind: string) => {
      await worker.effect(kind);
      fault = faultOf(kind.slice('platform.'.length));
      if (fault === 'lost_late') this.#postpone(sent, worker.name);
      const met = outcomeOf(fault, 'never');
      refused = typeof met === 'number' ? met : this.#refusalOf(sent);
      if (typeof met === 'string') throw broken(met);
      if (refused !== undefined) throw broken('ECONNRESET');
    };
    try {
      const { kind, id = '' } = requestOf(sent);
      const before = this.groups.get(id);
      const answer = await this.#simulated.dispatcherFor({ ...worker, effect }).request(sent as never);
      const met = outcomeOf(fault, 'before');
      if (typeof met === 'string') throw broken(met);
      if (met !== undefined) return refusedWith(met);
      const isBehind = answer.statusCode === 200 && this.behind(kind as Responding);
      return this.#bent(sent, isBehind ? asBefore(before, answer as never, isBehind) : (answer as never));
    } catch (error) {
      if (refused === undefined) throw error;
      return refusedWith(refused);
    } finally {
      this.#checkWrites();
    }
  }

  #renamed(sent: Sent): Sent {
    const { isWrite, body } = requestOf(sent);
    const size = /limit=/.test(sent.path) ? this.pageSize() : undefined;
    if (size !== undefined) return { ...sent, path: sent.path.replace(/limit=\d+/, `limit=${size}`) };
    const { name, spokeId } = body;
    if (!isWrite || (name ?? spokeId) === undefined) return sent;
    const stored = {
      ...body,
      ...(name === undefined ? {} : { name: this.#nameAs(name) }),
      ...(typeof spokeId === 'string' ? { spokeId: this.#spokeIdAs(spokeId) } : {}),
    };
    return { ...sent, body: JSON.stringify(stored) };
  }

  #partly(kind: string, answer: Answered): Answered {
    const isOfGroups = ['list', 'get', 'create', 'put', 'patch'].includes(kind);
    if (!isOfGroups || answer.statusCode !== 200) return answer;
    const partly = (group: Shown) => ({ ...group, users: this.showing(kind, group.users) });
    const shown = read(answer);
    return answering(Array.isArray(shown) ? shown.map(partly) : partly(shown as Shown));
  }

  /** Returns the answer with the faults that the test has set. */
  #bent(sent: Sent, whole: Answered): Answered {
    const { kind, id } = requestOf(sent);
    const answer = this.#partly(kind, whole);
    if (answer.statusCode !== 200) return answer;
    const other = this.groups.get(this.confused(kind as Responding) ?? '');
    if (other !== undefined) {
      return answering(shownGroup(other, this.#traits));
    }
    if (kind === 'get' && this.malformed.has(id ?? '')) return answering(asMalformed(read(answer) as Shown));
    if (kind === 'employee' && this.undescribed.has(id ?? '')) return answering({ id });
    if (kind !== 'list' && kind !== 'employees') return answer;
    const shown = read(answer) as readonly Shown[];
    const listed = (kind === 'list' ? shown.slice(0, this.listLimit) : shown)
      .filter((group) => !(this.notInList.has(group.id) || (this.hidesFromList && this.hidden(group.id))))
      .map((one) => (this.undescribed.has(one.id) ? ({ id: one.id } as Shown) : one))
      .map((group) => (this.malformed.has(group.id) ? asMalformed(group) : group));
    return answering(listed);
  }

  #refusalOf(sent: Sent): number | undefined {
    const { kind, id, body, query } = requestOf(sent);
    const failed = this.failing(kind, query);
    if (failed !== undefined) return failed;
    if (id !== undefined && this.hidden(id)) return 404;
    if (id !== undefined && this.forbidden(id)) return 403;
    if (kind === 'list') return this.listing();
    if (kind === 'create') return this.refusal(body.spokeId ?? null, body.users ?? [], body);
    if (kind !== 'patch' && kind !== 'put') return undefined;
    const known = this.groups.get(id ?? '');
    return known && this.refusal(known.spokeId, body.users ?? [], body);
  }

  #postpone(sent: Sent, by: string): void {
    const run = () => {
      if (this.#refusalOf(sent) === undefined) this.#simulated.arrive(sent, by);
      this.#checkWrites();
    };
    this.#late.push({ run, latestMs: this.#nowMs() + LATEST_MS });
  }

  #checkWrites(): void {
    for (; this.#checkedWrites < this.writes.length; this.#checkedWrites += 1) {
      const { action, id, spokeId, madeBy, by } = this.writes[this.#checkedWrites] as PlatformWrite;
      const others = [...this.groups.values()].filter(
        (group) => group.madeBy === 'us' && group.id !== id && !this.hidden(group.id),
      );
      if (action === 'create' && others.some((other) => other.spokeId === spokeId))
        this.violations.push(`a second group for ${spokeId} (by ${by})`);
      if (madeBy !== 'us' && !this.adopted.has(id))
        this.violations.push(`${action} on ${id}, which is not ours`);
    }
  }

  doLate(which: number): void {
    this.#late.splice(which % Math.max(1, this.#late.length), 1)[0]?.run();
  }

  /** Lets each `lost_late` call take effect that has reached its latest time. */
  doOverdue(): void {
    while (this.latestMs <= this.#nowMs()) this.doLate(0);
  }

  /** The latest time of the oldest waiting `lost_late` call; infinity if no such call waits. */
  get latestMs(): number {
    return this.#late[0]?.latestMs ?? Number.POSITIVE_INFINITY;
  }

  get lateCount(): number {
    return this.#late.length;
  }

  /** Adds a group of another client that existed before the test. The feed does not show its creation. */
  addForeign(fields: { readonly name: string; readonly spokeId: string; readonly users: readonly string[] }) {
    const { name, spokeId, users } = fields;
    const stored = { name: this.#nameAs(name), spokeId: this.#spokeIdAs(spokeId) };
    return this.#simulated.seed({ ...stored, users: [...users] }).id;
  }

  /** Adds a group as a write of groupsync. This write is not checked for violations. */
  addOurs(fields: { readonly name: string; readonly spokeId: string; readonly users: readonly string[] }) {
    const sent = { method: 'POST', path: '/platform/api/groups', body: JSON.stringify(fields) };
    this.#simulated.arrive(sent, 'ours');
    this.#checkedWrites = this.writes.length;
    return this.writes.at(-1)?.id ?? '';
  }

  changeAsOther(id: string, change: Partial<GroupContent>, by: InitiatorType = 'ROLE'): void {
    const known = this.groups.get(id);
    if (known === undefined) return;
    const { users = known.users, ...fields } = change;
    this.asOther({ kind: 'edit', group: '', add: users, remove: known.users.length, ...fields }, id, by);
  }

  deleteAsOther(id: string, by: InitiatorType = 'ROLE'): void {
    this.asOther({ kind: 'delete', group: '' }, id, by);
  }

  asOther(action: ClientAction, id: string, by: InitiatorType): void {
    this.#simulated.otherClient(action, id, by);
  }

  /** Adds a group of another client with the same name, users and spokeId. @returns the id of the new group */
  copyAsOther(id: string): string {
    const { spokeId, name, users } = this.groups.get(id) as HeldGroup;
    return this.addForeign({ name, users, spokeId: spokeId ?? '' });
  }

  set installer(user: string) {
    this.#traits.installer = user;
  }

  set employees(people: readonly PersonSpec[]) {
    for (const role of this.#simulated.employees.keys()) this.#simulated.company({ kind: 'erase', role });
    for (const person of people) this.#simulated.company({ kind: 'hire', person });
  }
}

const broken = (code: string) => Object.assign(new Error('error that the test requested'), { code });

interface Answered {
  readonly statusCode: number;
  readonly headers: object;
  /** The client only iterates over the body. */
  readonly body: Iterable<Buffer>;
}

const answering = (body: unknown, statusCode = 200): Answered => ({
  statusCode,
  headers: { 'content-type': 'application/json' },
  body: [Buffer.from(JSON.stringify(body))],
});
const refusedWith = (status: number) => answering({ error: `refused with ${status}` }, status);
const read = ({ body }: Answered): unknown => JSON.parse(Buffer.concat([...body]).toString());
const asBefore = (before: HeldGroup | undefined, answer: Answered, how: true | 'new version'): Answered => {
  const after = read(answer) as Shown & Pick<HeldGroup, 'version'>;
  if (before === undefined) return answering({ ...after, users: [], version: 'before' });
  const version = how === true ? before.version : after.version;
  return answering(shownGroup({ ...before, version }, { echoSpokeId: true }));
};
const asMalformed = (group: Shown) => ({ ...group, name: null });
