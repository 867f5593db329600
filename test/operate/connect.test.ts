import { expect, it } from 'vitest';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { checkFields, inspectCredential } from '../../shared/operate/connect/inspect.ts';
import { added, applicantOf, deleted, group, type ShortEvent, savedWorld } from '../support/operate/world.ts';

const employee = (id: string, name: string, userId: string, roleState = 'ACTIVE') =>
  new Map([
    ['id', id],
    ['userId', userId],
    ['workEmail', `${name}@acme.test`],
    ['roleState', roleState],
  ]);

const disabled = { type: 'user.upserted', data: { user: { id: 'm-eve', 'scim:active': 'false' } } };
const leaver = { type: 'user.deleted', data: { user: { id: 'm-eve' } } };
const empty = { type: 'group.snapshot', data: { group: { id: 'g' }, members: [] } };

/** Returns the preview of `connect` for these employees, after `events` about the members ann, bob, cid and dan. */
async function preview(memberIdField: ConnectionSettings['memberIdField'], ...events: readonly ShortEvent[]) {
  const world = await savedWorld({ groups: { include: ['*'], exclude: ['excluded'], policies: [] } });
  await world.publish(group('g'), added('g', 'ann', 'bob', 'cid', 'dan'), ...events);
  const { name, settings, company } = world.connection;
  const applicant = {
    ...applicantOf(company),
    employees: async function* () {
      yield [
        employee('ann-1', 'ann', 'u-ann', 'TERMINATED'),
        employee('ann-2', 'ann', 'u-ann'),
        employee('bob-1', 'bob', 'u-bob'),
        employee('bob-2', 'bob', 'u-bob'),
        employee('cid', 'cid', 'u-cid'),
        employee('other', 'cid', 'u-other'),
        employee('eve', 'eve', 'u-eve'),
        employee('fay', 'fay', 'u-fay', 'TERMINATED'),
      ];
    },
  };
  const inspection = await inspectCredential(
    { name, settings: { ...settings, memberIdField }, isNew: true, applicant },
    world.ports,
  );
  return inspection.preview;
}

it('connect counts all roles of one user as one person if groups contain users', async () => {
  expect(await preview('userId')).toMatchObject({ matched: 2, ambiguous: 1, unmatched: 1 });
});

it('connect matches the active role of a user who has several roles if groups contain roles', async () => {
  expect(await preview('id')).toMatchObject({ matched: 1, ambiguous: 2, unmatched: 1 });
});

it.each<[string, number, ...ShortEvent[]]>([
  ['counts a member of a group that groupsync writes', 3, added('g', 'eve')],
  ['leaves out a member whose account is switched off', 2, added('g', 'eve'), disabled],
  ['leaves out a member that the directory has deleted', 2, added('g', 'eve'), leaver],
  ['leaves out a member that a later snapshot does not list', 0, added('g', 'eve'), empty],
  ['leaves out a member of a deleted group', 2, group('x'), added('x', 'eve'), deleted('x')],
  ['leaves out a member of an excluded group', 2, group('excluded'), added('excluded', 'eve')],
  ['leaves out a member whose employee has left', 2, added('g', 'fay')],
])('connect %s from the first matches', async (_, newlyMatched, ...events) => {
  expect(await preview('userId', ...events)).toMatchObject({ newlyMatched });
});

it('counts the employees that have a value of each field that the match rules need', async () => {
  const { settings } = (await savedWorld({ match: ['email=workEmail'] })).connection;
  const sample = ['a@acme.test', '', null].map((email) => new Map([['workEmail', email]]));
  expect(checkFields(settings, sample)[0]).toMatchObject({ detail: '1 of 3 employees have one' });
});
