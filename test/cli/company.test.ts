import { expect, it } from 'vitest';
import { readerBinding } from '../../shared/contract/decode.ts';
import { DEFAULT_CONNECTION, readerQueueName } from '../../shared/contract/names.ts';
import { readDirectory } from '../../shared/directory/reading/run.ts';
import { createReaderStore } from '../../shared/directory/store/reader-store.ts';
import { createDirectories } from '../../shared/directory/vendors/directories.ts';
import { createLeases } from '../../shared/store/leases.ts';
import { ingest } from '../../shared/sync/ingest/ingest.ts';
import type { Connection } from '../../shared/sync/ports/connections.ts';
import { requeueDue } from '../../shared/sync/requeue.ts';
import { SECRET } from '../directory-simulator/entra/fixture.ts';
import { employee } from '../support/operate/world.ts';
import { entraWorldOf } from './directory-fixture.ts';

const NUMBERS = { liz: '17', ann: '7', gus: '99', bot: '98' };
const BOUND = { connection: 'default', bound: readerBinding(readerQueueName('groupsync'), 'default') };
const EXCLUDE = 'people.exclude=["type=GUEST ","department=Robots"]';

/** Creates a tenant in a national cloud, with a guest, a service account, and employees without an address. */
async function company() {
  const { world, entra, connection, ...commands } = await entraWorldOf();
  const { ports, clock, table, apply, platform } = world;
  for (const [name, number] of Object.entries(NUMBERS)) {
    await ports.people.save(DEFAULT_CONNECTION, employee(name, number, 'employeeNumber'), undefined);
  }
  const withFields = (name: keyof typeof NUMBERS, fields: object) => ({
    kind: 'changeUser',
    user: `u-${name}`,
    vendorFields: { employeeId: NUMBERS[name], ...fields },
  });
  await entra.control('changes', [
    { kind: 'addUser', user: { id: 'u-bot', primaryEmail: 'bot@contoso.example' } },
    { kind: 'addMember', group: 'g-sales', member: 'u-bot' },
    { kind: 'addMember', group: 'g-sales', member: 'u-ann' },
    withFields('bot', { department: 'Robots' }),
    withFields('gus', { userType: 'Guest' }),
    withFields('liz', { mail: null, userPrincipalName: 'liz@contoso.onmicrosoft.example' }),
    withFields('ann', { mail: null, userPrincipalName: 'ann@contoso.onmicrosoft.example' }),
  ]);
  await entra.control('cloud', { cloud: 'gccHigh' });
  const send = async (messages: readonly { readonly body: string }[]) => {
    const sent = messages.map(({ body }, at) => ({ ...BOUND, messageId: `${at}`, body, sentAtMs: clock.ms }));
    expect((await ingest(sent, ports)).rejected).toEqual([]);
    return sent;
  };
  const reading = {
    ...ports,
    leases: createLeases(table),
    reader: createReaderStore(table),
    directories: createDirectories({ read: async () => ({ clientSecret: SECRET }) }, entra.world),
    events: { send },
  };
  /** Runs the reader, writes to the platform, and returns the users of the group Sales. */
  const sales = async () => {
    const options = { deadlineMs: Number.POSITIVE_INFINITY, isFull: true };
    await readDirectory((await connection()) as Connection, reading, options);
    await requeueDue(DEFAULT_CONNECTION, ports, { everything: true });
    await apply('g-sales');
    clock.ms += 25 * 60_000;
    entra.clock.ms = clock.ms;
    return [...platform.groups.values()].flatMap(({ name, users }) =>
      name === 'Sales' ? [...users].sort() : [],
    );
  };
  const set = (...changes: string[]) => commands.run('connections', 'set', 'default', ...changes, '--yes');
  return { ...commands, sales, set };
}

it('a tenant of a national cloud is read with matches without addresses, and excluded people stay out in every mode', async () => {
  const { connect, run, sales, set } = await company();
  const other = await connect(`${SECRET}\n`, '--secret-stdin');
  expect(other.stderr).toMatch(
    /nothing was stored: .*AADSTS500011.* the cloud of the tenant: --cloud public, gccHigh/,
  );
  expect((await connect(`${SECRET}\n`, '--secret-stdin', '--cloud', 'gccHigh')).code).toBe(0);
  for (const wrong of [
    'people.exclude=["type="]',
    'people.exclude=["kind=guest"]',
    'people.exclude=type=guest',
  ])
    expect((await set(wrong)).code).toBe(2);
  await set('match=["employeeNumber=employeeNumber"]', EXCLUDE);
  expect(await sales()).toEqual(['u-ann', 'u-liz']);
  expect((await run('pending')).stdout).toBe('no member is pending\n');
  expect((await run('status')).stdout).toContain('excluded    2 memberships (people.exclude)');
  expect((await run('explain', 'Sales', 'u-bot')).stdout).toContain('every group (department=Robots)');
  await set('people.exclude=[]', 'mode=additive');
  expect(await sales()).toEqual(['u-ann', 'u-bot', 'u-gus', 'u-liz']);
  await set(EXCLUDE);
  expect(await sales()).toEqual(['u-ann', 'u-liz']);
  await set('people.exclude=[]', 'mode=authoritative', 'guard.minSize=1', 'guard.maxRemovedShare=0.1');
  expect(await sales()).toHaveLength(4);
  expect((await set(EXCLUDE)).stderr).toContain('Sales (g-sales): 0 added, 0 removed, 2 held');
  expect(await sales()).toHaveLength(4);
  await set('people.exclude=[]');
  await sales();
  expect((await run('holds')).stdout).toBe('no holds\n');
  await set(EXCLUDE);
  await sales();
  expect((await run('holds', 'approve', 'Sales', '--reason', 'guests', '--yes')).code).toBe(0);
  expect(await sales()).toEqual(['u-ann', 'u-liz']);
});
