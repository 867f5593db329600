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

/**
 * The fault of one call. After `lost_before`, `lost_after` and `lost_late` the caller gets no answer. `lost_before`:
 * the call has no effect. `lost_after`: the call took effect. `lost_late`: the call takes effect later.
 */
export type CallFault =
  | 'none'
  | 'unreached'
  | 'lost_before'
  | 'lost_after'
  | 'lost_late'
  | 'throttled'
  | 'unavailable_before'
  | 'unavailable_after'
  | 'forbidden'
  | 'unauthorized';

/** The result for the caller: a status, or a connection that fails with this code. */
type Met = number | 'ECONNREFUSED' | 'ECONNRESET';

const FAILS_BEFORE: Partial<Record<CallFault, Met>> = {
  unreached: 'ECONNREFUSED',
  lost_before: 'ECONNRESET',
  lost_late: 'ECONNRESET',
  throttled: 429,
  unavailable_before: 500,
  forbidden: 403,
  unauthorized: 401,
};
const FAILS_AFTER: Partial<Record<CallFault, Met>> = { lost_after: 'ECONNRESET', unavailable_after: 504 };

/**
 * The milliseconds within which a delivered request takes effect. Proxies and servers give up on a request after that
 * time.
 */
const LATEST_MS = 60_000;
const TOKEN = 'token';

export interface PlatformOptions extends Partial<Traits> {
  readonly nowMs: () => number;
  readonly company?: string;
  /** Returns the name that the platform stores for a sent name, if no trait describes the case. */
  readonly nameAs?: (name: string) => string;
  /** The form in which the platform stores external ids. */
  readonly spokeIdAs?: (spokeId: string) => string;
}

/** The ids to which a platform fault applies, from `add` until `clear`. */
export interface Named {
  add(id: string): void;
  clear(): void;
}

/** The first id in each platform fault's list. A fault with an empty list would apply to every id. */
const NO_ID = 'no id';

type Responding = 'get' | 'create' | 'patch' | 'put';
type Shown = Pick<HeldGroup, 'id' | 'spokeId' | 'users'>;

/** The simulation's platform, with faults that a test sets for each call, and a record of forbidden effects. */
export class ToldPlatform {
  /** The forbidden effects that occurred. */
  readonly violations: string[] = [];
  /** Foreign groups that may be written because they were adopted. */
  readonly adopted = new Set<string>();
  /**
   * `refused` has the users that the platform drops from every write. `kept` has the users whose removal the platform
   * answers with 200 and ignores.
   */
  readonly refused: Named;
  readonly kept: Named;
  /** Users that make the platform answer 422 to a whole write. */
  readonly unacceptable: Named;
  /** Groups that the platform shows without a name, against the specification. */
  readonly odd = new Set<string>();
  /** Whether the platform answers 404 for an existing group with this id. The platform still creates groups. */
  hidden: (id: string) => boolean = () => false;
  /** Whether the list also leaves out the groups of `hidden`. */
  hidesFromList = true;
  /**
   * Existing groups and roles that lists leave out. `undescribed` has roles whose answer shows only that they exist.
   */
  readonly unlisted = new Set<string>();
  readonly undescribed = new Set<string>();
  /** Returns the users that an answer shows, by the kind of call. */
  showing: (kind: string, users: readonly string[]) => readonly string[] = (_, users) => users;
  /** The largest number of groups that the list shows, the oldest first. */
  listLimit = Number.POSITIVE_INFINITY;
  /** Returns the status with which a request is refused, by its kind and parameters. */
  failing: (kind: string, query: string) => number | undefined = () => undefined;
  /** Returns the largest size of one page of the feed or of employees. */
  pageSize: () => number | undefined = () => undefined;
  /** Returns the status with which the list of all groups is refused. */
  listing: () => number | undefined = () => undefined;
  /** Whether the credential may not read the group with this id (403). */
  forbidden: (id: string) => boolean = () => false;
  /** Returns the group whose state an answer contains by mistake, by the call. */
  confused: (call: Responding) => string | undefined = () => undefined;
  /** Returns the status with which a write is always refused, or undefined if it is accepted. */
  refusal: (spokeId: string | null, users: readonly string[], sent: GroupBody) => number | undefined = () =>
    undefined;
  /**
   * Whether the answer to a write of this kind shows the group as it was before the write. It has the earlier version,
   * or already the new one. A new group has no users in such an answer.
   */
  behind: (kind: Responding) => boolean | 'new version' = () => false;
  secretVersion = 'secret-1';
  readonly #nowMs: () => number;
  readonly #simulated: SimulatedPlatform;
  readonly #traits: { -readonly [Name in keyof Traits]: Traits[Name] };
  readonly #nameAs: (name: string) => string;
  readonly #spokeIdAs: (spokeId: string) => string;
  readonly #late: { readonly run: () => void; readonly latestMs: number }[] = [];
  #judged = 0;

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

  /** Starts a permanent platform fault for the ids that are added later. */
  #about(platformFault: PlatformFault): Named {
    const about = [NO_ID];
    this.begin(platformFault, 1, about);
    return { add: (id) => about.push(id), clear: () => about.splice(1) };
  }

  /** Starts a permanent platform fault for this share of the calls. */
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

  /** The requests that arrived at the platform, in order, including those that a trait or platform fault refused. */
  get calls(): readonly PlatformCall[] {
    return this.#simulated.calls;
  }

  /** All writes of groupsync that took effect, in order. */
  get writes(): readonly PlatformWrite[] {
    return this.#simulated.writes;
  }

  /** The secrets from which the client reads its credential. */
  readonly secrets = {
    read: async () => ({ value: { token: TOKEN }, version: this.secretVersion }),
    write: async () => this.secretVersion,
  };

  /** Returns the dispatcher of one worker. It calls `faultOf` once for each request. */
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
      const met = FAILS_BEFORE[fault];
      refused = typeof met === 'number' ? met : this.#refusalOf(sent);
      if (typeof met === 'string') throw broken(met);
      if (refused !== undefined) throw broken('ECONNRESET');
    };
    try {
      const { kind, id = '' } = requestOf(sent);
      const before = this.groups.get(id);
      const answer = await this.#simulated.dispatcherFor({ ...worker, effect }).request(sent as never);
      const met = FAILS_AFTER[fault];
      if (typeof met === 'string') throw broken(met);
      if (met !== undefined) return refusedWith(met);
      const isBehind = answer.statusCode === 200 && this.behind(kind as Responding);
      return this.#bent(sent, isBehind ? asBefore(before, answer as never, isBehind) : (answer as never));
    } catch (error) {
      if (refused === undefined) throw error;
      return refusedWith(refused);
    } finally {
      this.#judge();
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

  /** Returns the answer with the faults that a test has set: about another group, without some groups, or malformed. */
  #bent(sent: Sent, whole: Answered): Answered {
    const { kind, id } = requestOf(sent);
    const answer = this.#partly(kind, whole);
    if (answer.statusCode !== 200) return answer;
    const other = this.groups.get(this.confused(kind as Responding) ?? '');
    if (other !== undefined) {
      return answering(shownGroup(other, this.#traits));
    }
    if (kind === 'get' && this.odd.has(id ?? '')) return answering(asOdd(read(answer) as Shown));
    if (kind === 'employee' && this.undescribed.has(id ?? '')) return answering({ id });
    if (kind !== 'list' && kind !== 'employees') return answer;
    const shown = read(answer) as readonly Shown[];
    const listed = (kind === 'list' ? shown.slice(0, this.listLimit) : shown)
      .filter((group) => !(this.unlisted.has(group.id) || (this.hidesFromList && this.hidden(group.id))))
      .map((one) => (this.undescribed.has(one.id) ? ({ id: one.id } as Shown) : one))
      .map((group) => (this.odd.has(group.id) ? asOdd(group) : group));
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
      this.#judge();
    };
    this.#late.push({ run, latestMs: this.#nowMs() + LATEST_MS });
  }

  /** Checks each write once, as soon as it took effect. */
  #judge(): void {
    for (; this.#judged < this.writes.length; this.#judged += 1) {
      const { action, id, spokeId, madeBy, by } = this.writes[this.#judged] as PlatformWrite;
      const others = [...this.groups.values()].filter(
        (group) => group.madeBy === 'us' && group.id !== id && !this.hidden(group.id),
      );
      if (action === 'create' && others.some((other) => other.spokeId === spokeId))
        this.violations.push(`a second group for ${spokeId} (by ${by})`);
      if (madeBy !== 'us' && !this.adopted.has(id))
        this.violations.push(`${action} on ${id}, which is not ours`);
    }
  }

  /** Lets one late write take effect, whose caller has given up. */
  doLate(which: number): void {
    this.#late.splice(which % Math.max(1, this.#late.length), 1)[0]?.run();
  }

  /** Lets all late writes take effect whose latest time has passed. */
  doOverdue(): void {
    while (this.latestMs <= this.#nowMs()) this.doLate(0);
  }

  /** The latest time at which the first of the late writes takes effect. */
  get latestMs(): number {
    return this.#late[0]?.latestMs ?? Number.POSITIVE_INFINITY;
  }

  get lateCount(): number {
    return this.#late.length;
  }

  /** Adds a group of another client. Its creation is earlier than that of managed groups. */
  addForeign(fields: { readonly name: string; readonly spokeId: string; readonly users: readonly string[] }) {
    const { name, spokeId, users } = fields;
    const stored = { name: this.#nameAs(name), spokeId: this.#spokeIdAs(spokeId) };
    return this.#simulated.seed({ ...stored, users: [...users] }).id;
  }

  /** Adds a group that a write of groupsync created. */
  addOurs(fields: { readonly name: string; readonly spokeId: string; readonly users: readonly string[] }) {
    const sent = { method: 'POST', path: '/platform/api/groups', body: JSON.stringify(fields) };
    this.#simulated.arrive(sent, 'ours');
    this.#judged = this.writes.length;
    return this.writes.at(-1)?.id ?? '';
  }

  /** Changes a group as another client does. */
  changeAsOther(id: string, change: Partial<GroupContent>, by: InitiatorType = 'ROLE'): void {
    const known = this.groups.get(id);
    if (known === undefined) return;
    const { users = known.users, ...fields } = change;
    this.asOther({ kind: 'edit', group: '', add: users, remove: known.users.length, ...fields }, id, by);
  }

  deleteAsOther(id: string, by: InitiatorType = 'ROLE'): void {
    this.asOther({ kind: 'delete', group: '' }, id, by);
  }

  /** Performs an action of another client on any group. */
  asOther(action: ClientAction, id: string, by: InitiatorType): void {
    this.#simulated.otherClient(action, id, by);
  }

  /** Creates another client's copy of a group, with the same spokeId. @returns its id */
  copyAsOther(id: string): string {
    const { spokeId, name, users } = this.groups.get(id) as HeldGroup;
    return this.addForeign({ name, users, spokeId: spokeId ?? '' });
  }

  /** Sets a user that the platform adds to every new group by itself. */
  set installer(user: string) {
    this.#traits.installer = user;
  }

  /** Replaces all employees of the platform. */
  set employees(people: readonly PersonSpec[]) {
    for (const role of this.#simulated.employees.keys()) this.#simulated.company({ kind: 'erase', role });
    for (const person of people) this.#simulated.company({ kind: 'hire', person });
  }
}

const broken = (code: string) => Object.assign(new Error('as the test told it'), { code });

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
const asOdd = (group: Shown) => ({ ...group, name: null });
