/** An event that a benchmark sends, in the native form. Each event is later than the previous event. */
export interface BenchEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly data: object;
}

interface Directory {
  group(group: string, name?: string): BenchEvent;
  snapshot(group: string, members: readonly number[]): BenchEvent;
  added(group: string, ...members: number[]): BenchEvent;
  removed(group: string, ...members: number[]): BenchEvent;
  renamedUser(member: number, email: string): BenchEvent;
}

const member = (n: number) => ({ id: `m${n}`, email: `p${n}@bench.test` });

export function createDirectory(clock: () => number): Directory {
  let serial = 0;
  const event = (type: string, data: object): BenchEvent => {
    serial += 1;
    return {
      specversion: '1.0',
      id: `ev${serial}`,
      source: 'bench',
      type: `directory.${type}`,
      time: new Date(clock()).toISOString(),
      ...({ sequence: String(serial) } as object),
      data,
    };
  };
  return {
    group: (id, name = `Group ${id}`) => event('group.upserted', { group: { id, name } }),
    snapshot: (id, members) =>
      event('group.snapshot', { group: { id, name: `Group ${id}` }, members: members.map(member) }),
    added: (id, ...members) => event('group.member.added', { group: { id }, members: members.map(member) }),
    removed: (id, ...members) =>
      event('group.member.removed', { group: { id }, members: members.map((n) => ({ id: `m${n}` })) }),
    renamedUser: (n, email) => event('user.upserted', { user: { id: `m${n}`, email } }),
  };
}
