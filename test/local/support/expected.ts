import type { GroupReport } from '../../../local/report.ts';
import { AS_WANTED } from '../../../shared/plan/waiting.ts';
import type { ReadDirectory } from '../../support/reading.ts';

interface ExpectedGroup {
  readonly id: string;
  readonly name: string;
  /** The sorted ids of the group's users on the platform. */
  readonly users: readonly string[];
  /** The sorted ids of the members without a matching employee. */
  readonly pending: readonly string[];
}

interface People {
  readonly companies: readonly {
    readonly employees: readonly {
      readonly userId: string;
      readonly workEmail: string;
      readonly roleState?: string;
    }[];
  }[];
}

/** Returns the groups that the platform must show, by id, without unnamed groups. Members match by e-mail address. */
export function expectedGroups(directory: ReadDirectory, { companies }: People): readonly ExpectedGroup[] {
  const users = new Map(
    companies
      .flatMap(({ employees }) => employees)
      .filter(({ roleState }) => (roleState ?? 'ACTIVE') === 'ACTIVE')
      .map(({ workEmail, userId }) => [workEmail.toLowerCase(), userId]),
  );
  const expected: ExpectedGroup[] = [];
  for (const [id, { name, members }] of directory.groups) {
    if (name === undefined) continue;
    const userOf = (member: string) => users.get(directory.emails.get(member)?.toLowerCase() ?? '');
    const known = [...members].flatMap((member) => userOf(member) ?? []);
    const pending = [...members].filter((member) => userOf(member) === undefined);
    expected.push({ id, name, users: [...new Set(known)].sort(), pending: pending.sort() });
  }
  return expected.sort(byId);
}

/** Whether the platform group is deleted, and apply only reads the group once more. The state is then still `dirty`. */
const isDeletedAsWanted = ({ platformId, waiting }: GroupReport): boolean =>
  waiting?.code === AS_WANTED.code && platformId === null;

/** Returns the existing groups of a report, in the form of the expected groups. */
export const reportedGroups = (groups: readonly GroupReport[]): readonly ExpectedGroup[] =>
  groups
    .filter((group) => group.state !== 'deleted' && group.state !== 'unnamed' && !isDeletedAsWanted(group))
    .map(({ id, name, users, pending }) => ({
      id,
      name: name ?? '',
      users,
      pending: pending.map((member) => member.id).sort(),
    }))
    .sort(byId);

/** Returns the groups of the platform. If two groups have the same `spokeId`, the second is marked as a repetition. */
export const platformGroups = (
  groups: readonly { spokeId: string | null; name: string; users: readonly string[] }[],
): readonly Omit<ExpectedGroup, 'pending'>[] =>
  groups
    .map(({ spokeId, name, users }) => ({ id: spokeId ?? '', name, users: [...users].sort() }))
    .sort(byId);

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : 1);
