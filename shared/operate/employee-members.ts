import type { MemberId } from '../domain/ids.ts';
import { personsOf } from '../plan/person.ts';
import { compareText } from '../plan/plan.ts';
import { collectPages, mapConcurrently } from '../sync/async-collections.ts';
import { personsBoundTo } from '../sync/match/resolve.ts';
import type { ToolPorts } from '../sync/ports/bundles.ts';
import type { Connection } from '../sync/ports/connections.ts';
import { READS_IN_FLIGHT } from '../sync/tuning.ts';

/**
 * Returns the member, and all other members that are bound to the same person. For example, an employee has one member
 * for each source of the connection. The given member is first.
 */
export async function membersOfEmployee(
  member: MemberId,
  connection: Connection,
  { users, people }: Pick<ToolPorts, 'users' | 'people'>,
): Promise<readonly MemberId[]> {
  const { name, settings } = connection;
  const user = (await users.read(name, [member])).get(member);
  if (user?.role === undefined) return [member];
  const roles = await people.rolesOf(name, user);
  const bindings = await mapConcurrently(READS_IN_FLIGHT, roles, ({ role }) =>
    collectPages(people.membersBoundTo(name, role)),
  );
  const ids = new Set(bindings.flat().map((binding) => binding.member));
  ids.delete(member);
  // The bindings include former bindings, so the person of each member is read.
  const others = [...(await users.read(name, [...ids])).values()].filter(({ role }) => role !== undefined);
  const [own, ...persons] = await personsBoundTo([user, ...others], connection, people);
  const isSame = (at: number) => {
    const person = persons[at];
    return own !== undefined && person !== undefined && personsOf([own, person], settings).length === 1;
  };
  const same = others.filter((_, at) => isSame(at)).map((one) => one.member);
  return [member, ...same.toSorted(compareText)];
}
