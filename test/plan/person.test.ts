import { expect, it } from 'vitest';
import { roleId } from '../../shared/domain/ids.ts';
import { personsOf } from '../../shared/plan/person.ts';

const HIRED = { state: 'HIRED', userId: 'u' };
const ACTIVE = { state: 'ACTIVE', userId: 'u' };
const ENDED = { state: 'TERMINATED', userId: 'u' };

it('the first role of a person may be a member if any role may, then is preferred, then active, then first by id', () => {
  const orderOf = (roles: Readonly<Record<string, object>>, includeStates: readonly string[]) => {
    const all = Object.entries(roles).map(([role, of]) => ({ role: roleId(role), ...(of as typeof ACTIVE) }));
    const settings = { memberIdField: 'userId', includeStates } as never;
    const [person = []] = personsOf(all, settings, roleId('wanted'));
    return person.map(({ role }) => role).join(' ');
  };
  const states = ['ACTIVE', 'HIRED'];
  expect(orderOf({ a: HIRED, b: ACTIVE, c: ACTIVE, wanted: HIRED, d: ENDED }, states)).toBe('wanted b c a d');
  expect(orderOf({ z: HIRED, wanted: ACTIVE }, ['HIRED'])).toBe('z wanted');
});
