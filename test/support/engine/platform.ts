import {
  type PlatformGroupId,
  type PlatformUserId,
  platformUserId,
  type VersionToken,
  versionToken,
} from '../../../shared/domain/ids.ts';
import type { ListedGroup, ObservedGroup } from '../../../shared/domain/view.ts';
import type { Connection } from '../../../shared/sync/ports/connections.ts';
import {
  type EmployeeRecord,
  type FailureKind,
  type GroupFields,
  type Platform,
  PlatformFailure,
  type Platforms,
} from '../../../shared/sync/ports/platform.ts';
import type { Worker } from './scheduler.ts';

/**
 * What may go wrong with one call. `lost_*`: no answer, and the work was not done, was done, or is done later, while
 * the caller has long gone on.
 */
export type PlatformFault =
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

const FAILS_BEFORE: Partial<Record<PlatformFault, readonly [FailureKind, number | undefined]>> = {
  unreached: ['unreached', undefined],
  lost_before: ['unanswered', undefined],
  lost_late: ['unanswered', undefined],
  throttled: ['throttled', 429],
  unavailable_before: ['unavailable', 500],
  forbidden: ['forbidden', 403],
  unauthorized: ['unauthorized', 401],
};
const FAILS_AFTER: Partial<Record<PlatformFault, readonly [FailureKind, number | undefined]>> = {
  lost_after: ['unanswered', undefined],
  unavailable_after: ['unavailable', 504],
};

/** A request that got through at all is done by then: proxies and servers give up on it. */
const LATEST_MS = 60_000;

interface StoredGroup {
  readonly id: string;
  name: string;
  spokeId: string | null;
  users: string[];
  version: number;
  readonly isOurs: boolean;
  readonly createdAtMs: number;
}

export interface PlatformWrite {
  readonly action: 'create' | 'patch' | 'put' | 'delete';
  readonly id: string;
  readonly spokeId: string | null;
  readonly atMs: number;
  readonly removed: readonly string[];
  readonly by: string;
}

export interface PlatformOptions {
  readonly nowMs: () => number;
  readonly company?: string;
  /** What answers a write with an old version. */
  readonly staleStatus?: 409 | 412 | 400 | 422;
  readonly enforceVersionOnPatch?: boolean;
  readonly echoSpokeId?: boolean;
  /** How long a new group is missing from the list, and answers 404. */
  readonly listLagMs?: number;
  readonly getLagMs?: number;
  /** What the platform makes of the names that are sent to it. */
  readonly nameAs?: (name: string) => string;
}

/** The Workforce Platform in memory, with its versions, its silences and its other users. */
export class FakePlatform {
  readonly groups = new Map<string, StoredGroup>();
  /** Every write of ours that took effect, in order. */
  readonly writes: PlatformWrite[] = [];
  /** What must never happen, and did. */
  readonly violations: string[] = [];
  /** Users that the platform drops from whatever is sent. */
  readonly refused = new Set<string>();
  /** Groups whose form is not as specified: lists keep id and spokeId of them, and by id they cannot be read. */
  readonly odd = new Set<string>();
  /** Users that the platform keeps in a group whatever is sent, though it answers 200. */
  readonly kept = new Set<string>();
  /** Users that the platform puts into every new group by itself. */
  readonly installers = new Set<string>();
  employees: readonly EmployeeRecord[] = [];
  secretVersion = 'secret-1';
  readonly #options: PlatformOptions;
  readonly #late: { readonly run: () => void; readonly latestMs: number }[] = [];
  #ids = 0;

  constructor(options: PlatformOptions) {
    this.#options = options;
  }

  portFor(worker: Worker, faultOf: (call: string) => PlatformFault): Platforms {
    const fail = ([kind, status]: readonly [FailureKind, number | undefined], call: string) =>
      new PlatformFailure(kind, `${call} failed as the test told it`, {
        status,
        secretVersion: this.secretVersion,
      });
    const call = async <Result>(name: string, run: () => Result): Promise<Result> => {
      await worker.effect(`platform.${name}`);
      const fault = faultOf(name);
      if (fault === 'lost_late') {
        this.#late.push({ run: () => attempt(run), latestMs: this.#options.nowMs() + LATEST_MS });
      }
      const before = FAILS_BEFORE[fault];
      if (before !== undefined) throw fail(before, name);
      const result = run();
      const after = FAILS_AFTER[fault];
      if (after !== undefined) throw fail(after, name);
      return result;
    };
    const by = worker.name;
    const platform: Platform = {
      secretVersion: this.secretVersion,
      probe: async () => {
        try {
          await call('probe', () => undefined);
          return undefined;
        } catch (error) {
          if (error instanceof PlatformFailure) return error;
          throw error;
        }
      },
      employees: async function* (this: FakePlatform) {
        yield await call('employees', () => this.employees);
      }.bind(this),
      employee: (role) => call('employee', () => this.employees.find((one) => one.role === role)),
      // biome-ignore lint/correctness/useYield: no test of this kind follows the feed
      activity: async function* () {
        throw new Error('the feed is not part of this platform');
      },
      groups: {
        list: () => call('list', () => this.#list()),
        get: (id) => call('get', () => this.#answer('get', this.#get(id))),
        create: (fields) => call('create', () => this.#answer('create', this.#create(fields, by))),
        patch: (id, fields, version) =>
          call('patch', () => this.#answer('patch', this.#change('patch', { id, fields, version, by }))),
        put: (id, fields, version) =>
          call('put', () => this.#answer('put', this.#change('put', { id, fields, version, by }))),
        delete: (id) => call('delete', () => this.#delete(id, by)),
      },
    };
    return {
      open: async (connection: Connection) => {
        if (connection.company !== (this.#options.company ?? 'company')) {
          throw new PlatformFailure('unauthorized', 'wrong_company', { secretVersion: this.secretVersion });
        }
        return { ...platform, secretVersion: this.secretVersion };
      },
    };
  }

  /** Does, at last, one of the writes whose callers have given up. */
  doLate(which: number): void {
    this.#late.splice(which % Math.max(1, this.#late.length), 1)[0]?.run();
  }

  /** No request is on its way for ever: what is due by now is done. */
  doOverdue(): void {
    while (this.latestMs <= this.#options.nowMs()) this.doLate(0);
  }

  /** When the first of the late writes will be done, at the latest. */
  get latestMs(): number {
    return this.#late[0]?.latestMs ?? Number.POSITIVE_INFINITY;
  }

  get lateCount(): number {
    return this.#late.length;
  }

  /** Somebody else's group. */
  addForeign(fields: {
    readonly name: string;
    readonly spokeId: string;
    readonly users: readonly string[];
  }): string {
    return this.#add(fields, false).id;
  }

  /** A group that a write of ours made, whatever was answered. */
  addOurs(fields: {
    readonly name: string;
    readonly spokeId: string;
    readonly users: readonly string[];
  }): string {
    return this.#add(fields, true).id;
  }

  /** Somebody else's change of any group. */
  changeAsOther(
    id: string,
    change: { name?: string; users?: readonly string[]; spokeId?: string | null },
  ): void {
    const group = this.groups.get(id);
    if (group === undefined) return;
    group.name = change.name ?? group.name;
    if (change.spokeId !== undefined) group.spokeId = change.spokeId;
    group.users = [...(change.users ?? group.users)];
    group.version += 1;
  }

  versionOf(id: string): VersionToken | undefined {
    const group = this.groups.get(id);
    return group === undefined ? undefined : versionToken(`v${group.version}`);
  }

  #show(group: StoredGroup): ObservedGroup {
    return {
      id: group.id,
      name: group.name,
      spokeId: this.#options.echoSpokeId === false ? null : group.spokeId,
      users: group.users.map(platformUserId),
      version: versionToken(`v${group.version}`),
    };
  }

  /** Ids under which the platform answers 404 though the groups are there; it still makes new ones. */
  hidden: (id: string) => boolean = () => false;
  /** Whether such groups are left out of the list as well. */
  hidesFromList = true;

  /** The group whose state an answer carries by mistake, by the call that is answered. */
  confused: (call: 'get' | 'create' | 'patch' | 'put') => string | undefined = () => undefined;

  #answer<Shown extends ObservedGroup | undefined>(
    call: 'get' | 'create' | 'patch' | 'put',
    own: Shown,
  ): Shown | ObservedGroup {
    const other = this.groups.get(this.confused(call) ?? '');
    return other === undefined ? own : this.#show(other);
  }

  #list(): readonly ListedGroup[] {
    const lagMs = this.#options.listLagMs ?? 0;
    return [...this.groups.values()]
      .filter(({ createdAtMs }) => this.#options.nowMs() - createdAtMs >= lagMs)
      .filter(({ id }) => !this.hidesFromList || !this.hidden(id))
      .map((group) => this.#show(group))
      .map((group) => (this.odd.has(group.id) ? { id: group.id, spokeId: group.spokeId } : group));
  }

  #get(id: PlatformGroupId): ObservedGroup | undefined {
    const group = this.groups.get(id);
    if (group === undefined || this.hidden(id)) return undefined;
    if (this.odd.has(id)) throw new PlatformFailure('unavailable', 'expected field name', { status: 200 });
    const isHidden = this.#options.nowMs() - group.createdAtMs < (this.#options.getLagMs ?? 0);
    return isHidden ? undefined : this.#show(group);
  }

  #create(fields: Required<GroupFields>, by: string): ObservedGroup {
    this.#refuse(fields.spokeId);
    const twin = [...this.groups.values()].find(
      ({ isOurs, spokeId }) => isOurs && spokeId === fields.spokeId,
    );
    if (twin !== undefined) this.violations.push(`a second group for ${fields.spokeId} (by ${by})`);
    const group = this.#add({ ...fields, users: [...fields.users, ...this.installers] }, true);
    this.#note('create', group, { removed: [], by });
    return this.#show(group);
  }

  #add(
    { name, spokeId, users }: { name: string; spokeId: string; users: readonly string[] },
    isOurs: boolean,
  ): StoredGroup {
    this.#ids += 1;
    const group: StoredGroup = {
      id: `p${this.#ids}`,
      name: this.#named(name),
      spokeId,
      users: this.#accepted(users),
      version: this.#ids * 1_000,
      isOurs,
      createdAtMs: this.#options.nowMs(),
    };
    this.groups.set(group.id, group);
    return group;
  }

  #change(
    action: 'patch' | 'put',
    {
      id,
      fields,
      version,
      by,
    }: {
      readonly id: PlatformGroupId;
      readonly fields: GroupFields;
      readonly version: VersionToken;
      by: string;
    },
  ): ObservedGroup {
    const group = this.groups.get(id);
    if (group === undefined || this.hidden(id))
      throw new PlatformFailure('not_found', 'no such group', { status: 404 });
    this.#refuse(group.spokeId);
    const isChecked = action === 'put' || this.#options.enforceVersionOnPatch !== false;
    if (isChecked && version !== `v${group.version}`) {
      const status = this.#options.staleStatus ?? 409;
      throw new PlatformFailure('rejected', 'stale version', { status });
    }
    const before = group.users;
    if (fields.name !== undefined) group.name = this.#named(fields.name);
    group.spokeId = fields.spokeId ?? group.spokeId;
    if (fields.users !== undefined) {
      const kept = before.filter((user) => this.kept.has(user));
      group.users = this.#accepted([...fields.users, ...kept]);
    }
    group.version += 1;
    this.#note(action, group, { removed: before.filter((user) => !group.users.includes(user)), by });
    return this.#show(group);
  }

  #delete(id: PlatformGroupId, by: string): void {
    const group = this.groups.get(id);
    if (group === undefined || this.hidden(id)) return;
    if (!group.isOurs && !this.adopted.has(id)) this.violations.push(`deleted ${id}, which is not ours`);
    this.groups.delete(id);
    this.#note('delete', group, { removed: group.users, by });
  }

  /** Says of a write that it will never be accepted, and with which status it is refused. */
  refusal: (spokeId: string | null) => number | undefined = () => undefined;

  /** Foreign groups that may be written because they were adopted. */
  readonly adopted = new Set<string>();

  #refuse(spokeId: string | null): void {
    const status = this.refusal(spokeId);
    if (status === undefined) return;
    const kind = status === 403 ? 'forbidden' : status >= 500 ? 'unavailable' : 'rejected';
    throw new PlatformFailure(kind, `refused with ${status}`, { status, secretVersion: this.secretVersion });
  }

  #named(name: string): string {
    return this.#options.nameAs?.(name) ?? name;
  }

  #accepted(users: readonly string[]): string[] {
    return [...new Set(users)].filter((user) => !this.refused.has(user));
  }

  #note(
    action: PlatformWrite['action'],
    group: StoredGroup,
    { removed, by }: { readonly removed: readonly string[]; readonly by: string },
  ): void {
    if (!group.isOurs && !this.adopted.has(group.id)) {
      this.violations.push(`${action} on ${group.id}, which is not ours`);
    }
    const { id, spokeId } = group;
    this.writes.push({ action, id, spokeId, atMs: this.#options.nowMs(), removed, by });
  }
}

function attempt(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    // Nobody waits for the answer any more.
    if (!(error instanceof PlatformFailure)) throw error;
  }
}

export type { PlatformUserId };
