import pMap from 'p-map';
import { matchRules } from '../../contract/settings.ts';
import { ACTIVE_ATTRIBUTE } from '../../domain/active.ts';
import { attributesOf, type ConnectionFold, type GroupFold, type UserFold } from '../../domain/fold.ts';
import type { ConnectionName, GroupId, GroupRef } from '../../domain/ids.ts';
import { laterStamp, STAMP_ZERO } from '../../domain/stamp.ts';
import type { WakePorts } from '../ports/bundles.ts';
import type { Connections } from '../ports/connections.ts';
import type { DesiredStore, UserState, UserStore } from '../ports/desired.ts';
import { WRITES_IN_FLIGHT } from '../tuning.ts';
import { type UnwokenGroup, wakeGroups } from '../wake.ts';
import { walkUser } from '../walk.ts';
import type { Failures } from './failures.ts';
import type { Origins } from './origins.ts';

export interface StorePorts extends WakePorts {
  readonly desired: DesiredStore;
  readonly users: UserStore;
  readonly connections: Connections;
}

interface Batch {
  readonly ports: StorePorts;
  readonly origins: Origins;
  readonly failures: Failures;
}

/** A user that changed, and the groups which have heard of it. */
interface Walk {
  readonly user: UserState;
  readonly groups: readonly GroupId[];
}

/**
 * Everything that one batch says of one connection, from registers to wake-ups. What fails is charged to the messages
 * that said it; the rest goes on.
 * @returns the groups that were touched
 */
export async function storeFold(fold: ConnectionFold, batch: Batch): Promise<readonly GroupRef[]> {
  const { connection } = fold;
  await storeGroups(fold, batch);
  const users = await storeUsers(fold, batch);
  const walks = await walkAll(connection, users, batch);

  const named = new Set([...fold.groups.keys(), ...walks.flatMap(({ groups }) => groups)]);
  const refs = [...named].map((group) => ({ connection, group }));
  const unwoken = await wakeGroups(refs, batch.ports);
  chargeUnwoken(unwoken, walks, batch);
  await endWalks(connection, walks, unwoken, batch);
  return refs;
}

async function storeGroups(fold: ConnectionFold, { ports, origins, failures }: Batch): Promise<void> {
  for (const group of fold.groups.values()) {
    try {
      await storeGroup({ connection: fold.connection, group: group.group }, group, ports);
    } catch (cause) {
      failures.add(cause, origins.ofGroup(group.group));
    }
  }
}

/**
 * Members before parts, parts before the floor: a floor that came first would hide members still to be written. All
 * notes at once before the registers, because they carry no condition and so travel together.
 */
async function storeGroup(ref: GroupRef, fold: GroupFold, { desired, clock }: StorePorts): Promise<void> {
  const nowMs = clock();
  const present = [...fold.members].filter(([, { value }]) => value === 'present');
  await Promise.all(present.map(([member]) => desired.noteMembership(ref, member)));
  await pMap(fold.members, ([member, register]) => desired.joinMember(ref, { member, register }, nowMs), {
    concurrency: WRITES_IN_FLIGHT,
  });
  let { snapshot } = fold;
  for (const part of fold.parts.values()) {
    snapshot = laterStamp(snapshot, await desired.recordPart(ref, part, nowMs));
  }
  await desired.joinGroup(ref, { ...fold, snapshot });
}

/** Registers first: a user that is walked from here on finds every group of this batch. */
async function storeUsers(fold: ConnectionFold, batch: Batch): Promise<readonly UserState[]> {
  const { ports, origins, failures } = batch;
  const matched = await matchedAttributes(fold.connection, ports.connections);
  const changes = [...fold.users.values()].filter(isChange).map((user) => ({
    user: user.user,
    attributes: attributesOf(user),
    deleted: user.deleted,
  }));
  const stored: UserState[] = [];
  for (const joined of await ports.users.join(fold.connection, changes, matched)) {
    if ('state' in joined) stored.push(joined.state);
    else failures.add(joined.cause, origins.ofUser(joined.user));
  }
  return stored;
}

const isChange = ({ said, deleted }: UserFold): boolean => said.size > 0 || deleted !== STAMP_ZERO;

/** What decides who a member is, or whether they count. */
async function matchedAttributes(
  connection: ConnectionName,
  connections: Connections,
): Promise<ReadonlySet<string>> {
  const found = await connections.find(connection);
  const rules = found === undefined ? [] : matchRules(found.settings);
  return new Set([ACTIVE_ATTRIBUTE, ...rules.map((rule) => rule.memberAttribute)]);
}

async function walkAll(
  connection: ConnectionName,
  users: readonly UserState[],
  { ports, origins, failures }: Batch,
): Promise<readonly Walk[]> {
  const walks: Walk[] = [];
  await pMap(
    users.filter(({ walking }) => walking),
    async (user) => {
      try {
        walks.push({ user, groups: await walkUser(ports.users, connection, user) });
      } catch (cause) {
        failures.add(cause, origins.ofUser(user.member));
      }
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
  return walks;
}

function chargeUnwoken(
  unwoken: readonly UnwokenGroup[],
  walks: readonly Walk[],
  { origins, failures }: Batch,
): void {
  for (const { ref, cause } of unwoken) {
    failures.add(cause, origins.ofGroup(ref.group));
    for (const { user, groups } of walks) {
      if (groups.includes(ref.group)) failures.add(cause, origins.ofUser(user.member));
    }
  }
}

/** A walk ends only when every group that it reached was woken; the others are found again by the pump. */
async function endWalks(
  connection: ConnectionName,
  walks: readonly Walk[],
  unwoken: readonly UnwokenGroup[],
  { ports, origins, failures }: Batch,
): Promise<void> {
  const lost = new Set(unwoken.map(({ ref }) => ref.group));
  await pMap(
    walks.filter(({ groups }) => !groups.some((group) => lost.has(group))),
    async ({ user }) => {
      try {
        await ports.users.endWalk(connection, user.member, user.revision);
      } catch (cause) {
        failures.add(cause, origins.ofUser(user.member));
      }
    },
    { concurrency: WRITES_IN_FLIGHT },
  );
}
