import { policyFor } from '../../shared/contract/group-policy.ts';
import { holdWith } from '../../shared/domain/hold.ts';
import type { GroupRef } from '../../shared/domain/ids.ts';
import { readStamp } from '../../shared/domain/stamp.ts';
import { NotFound } from '../../shared/operate/names.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import { readGroupStatus } from '../../shared/operate/status.ts';
import type { RequestContext } from './context.ts';
import { byName, heldOf, stateOf, usersOf } from './group-reads.ts';
import { departmentOf, knownMembers, nameOf, sinceOf } from './people.ts';

export async function groupDetail(ref: GroupRef, context: RequestContext) {
  const state = await stateOf(ref, context);
  const [connection, status, known, users, held, { entries }] = await Promise.all([
    requireConnection(ref.connection, context.ports),
    readGroupStatus(ref, context.ports),
    knownMembers(state, context.ports),
    usersOf(state, context),
    heldOf(state, context),
    context.overview.activity(),
  ]);
  if (status === undefined) throw new NotFound(`there is no group ${ref.group}`);
  const members = known
    .filter(({ isWanted, user }) => isWanted || users.has(user ?? ''))
    .map(({ register, state: person, user, isWanted }) => ({
      ...nameOf(register.member, person),
      department: departmentOf(person),
      since: sinceOf({ register, isWanted }, state),
      source: readStamp(register.stamp)?.source ?? null,
      directory: isWanted,
      pending: isWanted ? (register.pending?.cause ?? null) : null,
      held: held.has(user ?? ''),
      user: user ?? null,
      platform: users.has(user ?? ''),
    }));
  const knownUsers = new Set(known.map(({ user }) => user));
  const unknownUsers = [...users]
    .filter((user) => !knownUsers.has(user))
    .map((user) => ({ ...UNKNOWN, user }));
  return {
    status,
    held: holdWith('waiting', state) !== undefined,
    pausedAtMs: state.pausedAtMs ?? null,
    users: state.link === undefined ? null : users.size,
    mode: policyFor(connection.settings, ref.group, state.registers.name?.value ?? undefined).mode,
    members: [...members, ...unknownUsers].sort(byName),
    history: entries.filter(({ group }) => group === ref.group),
  };
}

/** A user of the platform group without a directory event in this group. */
const UNKNOWN = {
  id: '',
  name: null,
  email: null,
  department: null,
  since: null,
  source: null,
  directory: false,
  pending: null,
  held: false,
  platform: true,
};
