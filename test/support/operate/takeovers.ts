import {
  planTakeover,
  type TakeoverTarget,
  takeOverGroups,
} from '../../../shared/directory/operate/takeover.ts';
import type { Source } from '../../../shared/domain/source.ts';
import { resumeConnection } from '../../../shared/operate/pausing.ts';
import { company, openReader, type Reader } from '../../directory/reading/fixture.ts';
import { clientNextTo } from '../../directory/reading/scim-client.ts';
import { CONNECTION, MINUTE_MS } from '../engine/world.ts';
import { add } from '../scim-operations.ts';

export const directory = { kind: 'google', administrator: 'admin@acme.test' };
export const PEOPLE = ['a', 'b', 'c', 'd'];

export async function openWith(
  groups: Readonly<Record<string, readonly string[]>>,
  settings: Readonly<Record<string, unknown>> = { directory },
) {
  const reader = await openReader({ world: company(groups), settings });
  await reader.hire(...PEOPLE);
  return reader;
}

const targetOf = (source: Source, { google }: Reader, sameIds: boolean): TakeoverTarget =>
  source === 'directory' ? { source, directory: google.directory, replaces: false } : { source, sameIds };

export async function plan(reader: Reader, to: Source, sameIds = false, file?: ReadonlyMap<string, string>) {
  const { world } = reader;
  return planTakeover(await world.connection(), targetOf(to, reader, sameIds), world.toolPorts, file);
}

export async function takeOver(
  reader: Reader,
  to: Source,
  { sameIds = false, ports = reader.world.toolPorts } = {},
) {
  const planned = await plan(reader, to, sameIds);
  return takeOverGroups(await reader.world.connection(), planned, ports);
}

type ToolPorts = Reader['world']['toolPorts'];

/** Returns the ports of one worker. `before` is called before each of its writes, with the number of earlier writes. */
export function portsWith(reader: Reader, before: (writes: number) => Promise<void>): ToolPorts {
  let writes = 0;
  const effect = async (kind: string) => {
    if (/^(get|query|scan|platform\.(get|list))/.test(kind)) return;
    await before(writes);
    writes += 1;
  };
  return reader.world.portsFor({ effect });
}

/** Returns the ports of a worker that dies before its next write after this number of writes. */
export const dyingAfter = (reader: Reader, most: number): ToolPorts =>
  portsWith(reader, async (writes) => {
    if (writes >= most) throw new Error('it dies here');
  });

export async function resume(reader: Reader) {
  await resumeConnection(CONNECTION, reader.world.toolPorts);
  await reader.pass(20 * MINUTE_MS);
}

/** Creates a SCIM client of an identity provider, which sends its own copies of users and groups. */
export async function scimOf(reader: Reader) {
  const client = await clientNextTo(reader);
  const users = new Map<string, string>();
  const user = async (name: string) => {
    const known = users.get(name);
    if (known !== undefined) return known;
    const emails = [{ value: `${name}@acme.test`, type: 'work' }];
    const { body } = await client.post('/Users', { userName: name, emails });
    users.set(name, body.id);
    return body.id as string;
  };
  return {
    ...client,
    user,
    async group(displayName: string, members: readonly string[], externalId?: string) {
      const values = await Promise.all(members.map(async (one) => ({ value: await user(one) })));
      const { body } = await client.post('/Groups', { displayName, externalId, members: values });
      return body.id as string;
    },
    async join(group: string, name: string) {
      await client.patch(`/Groups/${group}`, [add('members', [{ value: await user(name) }])]);
    },
  };
}

export type Scim = Awaited<ReturnType<typeof scimOf>>;
