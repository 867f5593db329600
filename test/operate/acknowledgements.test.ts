import { expect, it } from 'vitest';
import { acknowledge, listAcknowledgements } from '../../console/server/acknowledgements.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { savedWorld } from '../support/operate/world.ts';

const DEFAULT = connectionName('default');
const DAY_MS = 86_400_000;

it('an acknowledgement is listed until its `untilMs`, or until a newer acknowledgement replaces it', async () => {
  const { ports, clock } = await savedWorld();
  const hide = (item: string, days: number | undefined, version: string | null = null) => {
    clock.ms += 1_000;
    const untilMs = days === undefined ? undefined : clock.ms + days * DAY_MS;
    return acknowledge(DEFAULT, { item, version, untilMs }, ports);
  };
  const items = async () => (await listAcknowledgements(DEFAULT, ports)).map(({ item }) => item);
  await hide('failed g1', 7, 'v1');
  await hide('unmatched', 1);
  await hide('holds', 7);
  await hide('holds', undefined);
  expect(await items()).toEqual(['failed g1', 'unmatched']);
  expect((await listAcknowledgements(DEFAULT, ports))[0]).toMatchObject({ version: 'v1' });
  clock.ms += 2 * DAY_MS;
  expect(await items()).toEqual(['failed g1']);
  await hide('failed g1', 30);
  clock.ms += 31 * DAY_MS;
  expect(await items()).toEqual([]);
});
