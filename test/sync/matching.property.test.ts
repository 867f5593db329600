import punycode from 'node:punycode';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { refreshPeople } from '../../shared/sync/people.ts';
import { group, savedWorld } from '../support/operate/world.ts';

const NAMES = ['jürgen', 'zoë', 'øre', 'łukasz', 'σωσίας', 'борис', 'ßara', 'ılker', 'ann'];
const HOSTS = ['acme.test', 'münchen.example', 'bücher.ch', '例え.example'];
const address = fc.record({ name: fc.constantFrom(...NAMES), host: fc.constantFrom(...HOSTS) });

/** Functions that return different spellings of one address. */
const SPELLINGS: readonly ((of: { readonly name: string; readonly host: string }) => string)[] = [
  ({ name, host }) => `${name}@${host}`,
  ({ name, host }) => `  ${name}@${host}\u200b`,
  ({ name, host }) => `${name}@${host}`.normalize('NFD'),
  ({ name, host }) => `${name}@${punycode.toASCII(host)}`,
  ({ name, host }) =>
    `${name[0]?.toLowerCase()}${name.slice(1).toUpperCase().replaceAll('SS', 'ß')}@${host.toUpperCase()}`,
];
const spelling = fc.constantFrom(...SPELLINGS);

/** Creates employees and members with the given addresses, and returns the users that are written to the group. */
async function writtenFor(employees: readonly string[], members: readonly string[]) {
  const world = await savedWorld();
  world.platform.employees = employees.map((email, at) => ({ role: `r-${at}`, userId: `u-${at}`, email }));
  await refreshPeople(world.connection, world.ports as unknown as Parameters<typeof refreshPeople>[1]);
  const listed = members.map((email, at) => ({ id: `m-${at}`, email }));
  await world.publish(group('g'), {
    type: 'group.member.added',
    data: { group: { id: 'g' }, members: listed },
  });
  await world.apply('g');
  const [platformGroup] = [...world.platform.groups.values()];
  return [...(platformGroup?.users ?? [])].sort();
}

it('a member matches the employee with the same address, despite different spellings', async () => {
  await fc.assert(
    fc.asyncProperty(address, spelling, spelling, async (one, ofEmployee, ofMember) => {
      expect(await writtenFor([ofEmployee(one)], [ofMember(one)])).toEqual(['u-0']);
    }),
    { numRuns: 60 },
  );
});

it('a member matches no employee whose address differs in more than the spelling', async () => {
  await fc.assert(
    fc.asyncProperty(address, address, spelling, async (one, other, spell) => {
      fc.pre(one.name !== other.name || one.host !== other.host);
      expect(await writtenFor([spell(one)], [spell(other)])).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it('a member matches no employee if two employees have spellings of the same address', async () => {
  await fc.assert(
    fc.asyncProperty(address, spelling, spelling, async (one, first, second) => {
      expect(await writtenFor([first(one), second(one)], [first(one)])).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
