import { describe, expect, it } from 'vitest';
import type { ConnectionSettings } from '../../shared/contract/settings.ts';
import { inspectCredential } from '../../shared/operate/connect/inspect.ts';
import { added, applicantOf, group, savedWorld } from '../support/operate/world.ts';

const employee = (id: string, name: string, userId: string, roleState = 'ACTIVE') =>
  new Map([
    ['id', id],
    ['userId', userId],
    ['workEmail', `${name}@acme.test`],
    ['roleState', roleState],
  ]);

/** Returns the preview of `connect` for the members ann, bob, cid and dan and for these employees. */
async function preview(memberIdField: ConnectionSettings['memberIdField']) {
  const world = await savedWorld();
  await world.publish(group('g'), added('g', 'ann', 'bob', 'cid', 'dan'));
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
      ];
    },
  };
  const inspection = await inspectCredential(
    { name, settings: { ...settings, memberIdField }, isNew: true, applicant },
    world.ports,
  );
  return inspection.preview;
}

describe('connect', () => {
  it('connect counts all roles of one user as one person if groups contain users', async () => {
    expect(await preview('userId')).toMatchObject({ matched: 2, ambiguous: 1, unmatched: 1 });
  });

  it('connect matches the active role of a user who has several roles if groups contain roles', async () => {
    expect(await preview('id')).toMatchObject({ matched: 1, ambiguous: 2, unmatched: 1 });
  });
});
