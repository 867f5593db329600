import type { CompanyDeed, PersonSpec } from '../life.ts';
import type { HeldEmployee } from './facts.ts';

/** Who works at the company. */
export function createPeople(people: readonly PersonSpec[] = []) {
  const employees = new Map<string, HeldEmployee>();
  const hire = ({ role, email, state = 'ACTIVE', userId = `u-${role}` }: PersonSpec) =>
    employees.set(role, { role, email, state, userId });
  const change = (role: string, fields: Partial<HeldEmployee>): boolean => {
    const known = employees.get(role);
    return known !== undefined && employees.set(role, { ...known, ...fields }) !== undefined;
  };
  for (const person of people) hire(person);

  return {
    employees: employees as ReadonlyMap<string, HeldEmployee>,
    /** @returns whether there was such a person */
    apply(deed: CompanyDeed): boolean {
      if (deed.kind === 'hire') return hire(deed.person) !== undefined;
      if (deed.kind === 'erase') return employees.delete(deed.role);
      if (deed.kind === 'readdress') return change(deed.role, { email: deed.email });
      if (deed.kind === 'lose_user_id') return change(deed.role, { userId: null });
      return change(deed.role, { state: deed.kind === 'terminate' ? 'TERMINATED' : 'ACTIVE' });
    },
    page(query: URLSearchParams): readonly object[] {
      const offset = Number(query.get('offset') ?? 0);
      const isAll = query.get('send_all_roles') === 'true';
      return [...employees.values()]
        .filter(({ state }) => isAll || state === 'ACTIVE' || state === 'TERMINATED')
        .slice(offset, offset + Number(query.get('limit') ?? 100))
        .map(shown);
    },
    one(role: string): object | undefined {
      const employee = employees.get(role);
      return employee && shown(employee);
    },
    byUserId(userId: string) {
      for (const { role, userId: own } of employees.values()) {
        if (own === userId) return { id: role, name: role };
      }
      return undefined;
    },
  };
}

const shown = ({ role, email, state, userId }: HeldEmployee): object => ({
  id: role,
  userId,
  roleState: state,
  workEmail: email,
  personalEmail: null,
});
