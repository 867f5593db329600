import fc from 'fast-check';
import { expect, it } from 'vitest';
import { explainMember } from '../../shared/operate/explain.ts';
import { refreshPeople } from '../../shared/sync/people.ts';
import type { PersonSpec } from '../../simulate/simulation-run.ts';
import { PATIENCE_MS, runs } from '../support/engine/runs.ts';
import { createTestEngine } from '../support/engine/test-engine.ts';

const MEMBERS = ['ann', 'bob', 'cid'];
const EMPLOYEES = ['e1', 'e2', 'e3', 'e4'];
const address = fc.constantFrom(...MEMBERS, 'unknown').map((name) => `${name}@acme.test`);

const employee = (role: string): fc.Arbitrary<PersonSpec> =>
  fc.record({
    role: fc.constant(role),
    state: fc.constantFrom('ACTIVE', 'ACTIVE', 'HIRED', 'TERMINATED'),
    email: fc.option(address),
    userId: fc.option(fc.constant(`u-${role}`), { freq: 3, nil: null }),
  });
const listing = fc.tuple(...EMPLOYEES.map((role) => fc.option(employee(role), { freq: 4 })));

const step = fc.oneof(
  fc.record({ listing }),
  fc.record({ snapshot: fc.constant('g'), of: fc.subarray(MEMBERS) }),
  fc.record({ user: fc.constantFrom(...MEMBERS), email: address }),
  fc.record({ add: fc.subarray(MEMBERS), to: fc.constant('g') }),
);

const settings = fc.record({
  memberIdField: fc.constantFrom('userId', 'id'),
  includeStates: fc.constantFrom(['ACTIVE'], ['ACTIVE', 'HIRED'], ['HIRED']),
  match: fc.constantFrom(['email=workEmail'], ['id=workEmail', 'email=workEmail']),
  mode: fc.constantFrom('authoritative', 'additive'),
});

it(
  'explain and apply agree about which members are pending, and why',
  async () => {
    const met = new Set<string>();
    const explainsLikeApply = async (
      policies: Readonly<Record<string, unknown>>,
      refused: readonly string[],
      steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
    ) => {
      const { world, deliver, ref } = await createTestEngine({ settings: policies });
      for (const user of refused) world.platform.refused.add(user);
      const connection = await world.connection();
      await deliver({ snapshot: 'g', of: MEMBERS });
      for (const what of steps) {
        if ('listing' in what) {
          world.platform.employees = what.listing.filter((one) => one !== null);
          await refreshPeople(connection, world.toolPorts);
          await deliver();
        } else await deliver(what);
        for (const { member, pending } of await world.toolPorts.groups.members(ref('g'))) {
          const { decision } = await explainMember(ref('g'), member, { connection, ports: world.toolPorts });
          met.add(decision.outcome);
          const waits = decision.outcome.startsWith('pending:');
          expect(waits ? decision.outcome : undefined).toBe(pending && `pending:${pending.cause}`);
          // In this test, no other client changes the platform's group.
          expect(decision.outcome).not.toBe('accepted');
        }
      }
    };
    await fc.assert(
      fc.asyncProperty(
        settings,
        fc.subarray(['u-e1', 'u-e2', 'e1', 'e2']),
        fc.array(step, { minLength: 1, maxLength: 6 }),
        explainsLikeApply,
      ),
      runs(400),
    );
    const causes = ['unknown', 'ambiguous', 'inactive', 'refused'].map((cause) => `pending:${cause}`);
    expect([...met]).toEqual(expect.arrayContaining([...causes, 'in_sync', 'not_wanted']));
  },
  PATIENCE_MS,
);
