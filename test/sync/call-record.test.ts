import { expect, it } from 'vitest';
import { REOPENED_GATE } from '../../shared/domain/gate.ts';
import { connectionName } from '../../shared/domain/ids.ts';
import { createGateStore } from '../../shared/store/connection-states.ts';
import { createCallRecord } from '../../shared/sync/call-record.ts';
import type { GateStore } from '../../shared/sync/ports/bundles.ts';
import { MemoryTable } from '../../simulate/table.ts';

const ACME = connectionName('acme');
const endpoint = 'PATCH /platform/api/groups/{groupId}';

function worker() {
  const stored = createGateStore(new MemoryTable());
  const clock = { ms: 1_000_000 };
  const requests = { reads: 0, writes: 0 };
  const gates: GateStore = {
    read: (name) => {
      requests.reads += 1;
      return stored.read(name);
    },
    write: (...how) => {
      requests.writes += 1;
      return stored.write(...how);
    },
  };
  const record = createCallRecord(gates, () => clock.ms);
  return {
    stored,
    clock,
    requests,
    record,
    async invoke(...failures: (string | undefined)[]) {
      await record.gates.read(ACME);
      for (const failure of failures) record.count(ACME, { endpoint, failure });
      await record.flush();
      return (await stored.read(ACME)).failingCalls;
    },
  };
}

it('successful calls are not recorded and do not change the gate item', async () => {
  const { invoke, requests } = worker();
  for (let count = 0; count < 3; count += 1) expect(await invoke(undefined, undefined)).toBeUndefined();
  expect(requests).toEqual({ reads: 3, writes: 0 });
});

it('the record of failing calls counts all calls from the first failure to the recovery', async () => {
  const { invoke, clock, requests } = worker();
  await invoke(undefined, undefined);
  const first = { endpoint, sinceMs: clock.ms, total: 2, failed: 1, lastFailedMs: clock.ms, reason: '500' };
  expect(await invoke(undefined, '500')).toMatchObject([first]);
  clock.ms += 1_000;
  expect(await invoke('503')).toMatchObject([first]);
  expect(requests.writes).toBe(1);
  clock.ms += 9_000;
  expect(await invoke('503')).toMatchObject([
    { ...first, total: 4, failed: 3, lastFailedMs: clock.ms, reason: '503' },
  ]);
  clock.ms += 1_000;
  expect(await invoke(undefined)).toMatchObject([{ total: 5, failed: 3, lastGoodMs: clock.ms }]);
  clock.ms += 60_000;
  expect(await invoke(undefined)).toBeUndefined();
  expect(requests.writes).toBe(4);
  await invoke(undefined);
  expect(requests.writes).toBe(4);
});

it('the record of failing calls stays when the gate closes or opens', async () => {
  const { invoke, stored } = worker();
  const failing = await invoke('500');
  const seen = await stored.read(ACME);
  await stored.write(ACME, seen, { state: 'backoff', reason: '500', closings: 1 });
  await stored.write(ACME, await stored.read(ACME), REOPENED_GATE);
  expect((await stored.read(ACME)).failingCalls).toEqual(failing);
});

it('the record of calls keeps its counts if the first write of the gate item fails', async () => {
  const { record, stored } = worker();
  record.count(ACME, { endpoint, failure: '500' });
  const { write } = stored;
  stored.write = async () => false;
  await record.flush();
  stored.write = write;
  await record.flush();
  expect((await stored.read(ACME)).failingCalls).toMatchObject([{ total: 1, failed: 1 }]);
});
