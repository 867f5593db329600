import type { CompanyAction, PersonSpec } from '../simulation-run.ts';
import type { HeldEmployee } from './facts.ts';

export function createPeople(people: readonly PersonSpec[] = []) {
  const employees = new Map<string, HeldEmployee>();
  const hire = ({ role, email, state = 'ACTIVE', userId = `u-${role}`, number }: PersonSpec) =>
    employees.set(role, { role, email, state, userId, number });
  const change = (role: string, fields: Partial<HeldEmployee>): boolean => {
    const known = employees.get(role);
    return known !== undefined && employees.set(role, { ...known, ...fields }) !== undefined;
  };
  for (const person of people) hire(person);
  const found = () => {
    const all = [...employees.values()];
    const listed = all.filter(({ state }) => state === 'ACTIVE' || state === 'TERMINATED');
    return { all, listed, byUser: new Map(all.toReversed().map((one) => [one.userId, one.role])) };
  };
  /** The cached answers. */
  let known: ReturnType<typeof found> | undefined;

  return {
    employees: employees as ReadonlyMap<string, HeldEmployee>,
    /** @returns whether the employee exists */
    apply(action: CompanyAction): boolean {
      known = undefined;
      if (action.kind === 'hire') return hire(action.person) !== undefined;
      if (action.kind === 'erase') return employees.delete(action.role);
      if (action.kind === 'readdress') return change(action.role, { email: action.email });
      if (action.kind === 'renumber') return change(action.role, { number: action.number });
      if (action.kind === 'change_user_id') return change(action.role, { userId: action.userId });
      if (action.kind === 'lose_user_id') return change(action.role, { userId: null });
      return change(action.role, { state: action.kind === 'terminate' ? 'TERMINATED' : 'ACTIVE' });
    },
    page(query: URLSearchParams, isListed?: (role: string) => boolean): readonly object[] {
      const offset = Number(query.get('offset') ?? 0);
      known ??= found();
      const all = known[query.get('send_all_roles') === 'true' ? 'all' : 'listed'];
      const some = isListed === undefined ? all : all.filter(({ role }) => isListed(role));
      return some.slice(offset, offset + Number(query.get('limit') ?? 100)).map(shown);
    },
    one(role: string): object | undefined {
      const employee = employees.get(role);
      return employee && shown(employee);
    },
    byUserId(userId: string) {
      known ??= found();
      const role = known.byUser.get(userId);
      return role === undefined ? undefined : { id: role, name: role };
    },
  };
}

const shown = ({ role, email, state, userId, number }: HeldEmployee): object => ({
  id: role,
  userId,
  roleState: state,
  workEmail: email,
  personalEmail: null,
  employeeNumber: number ?? null,
});
