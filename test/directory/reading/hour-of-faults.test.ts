import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { Dispatcher } from 'undici';
import { describe, expect, it } from 'vitest';
import { DirectoryError } from '../../../shared/directory/ports.ts';
import type { DirectoryWorld } from '../../../shared/directory/vendors/exchange.ts';
import { formatSource, reportSources } from '../../../shared/operate/status.ts';
import { findProblems } from '../../../shared/sync/reconcile/levels.ts';
import { MINUTE_MS } from '../../support/engine/world.ts';
import { company, platformGroupsOf, READERS, settle } from './fixture.ts';

const world = company({ rowing: ['a', 'b'], chess: ['c', 'd'] });
/** Makes the reader a source whose problems are reported. The directory itself is a simulated one. */
const settings = { directory: { kind: 'google', administrator: 'admin@acme.test' } };

/** Changes an answer on its way to the reader. `nth` is the number of earlier lists of members of the same group. */
type Fault = (
  body: unknown,
  isList: boolean,
  nth: number,
) => { readonly status?: number; readonly body?: unknown };

/** Passes each answer through the fault, if one is set. Works for all vendors, because it changes their own answers. */
function between({ dispatcher }: DirectoryWorld) {
  const request = dispatcher.request.bind(dispatcher);
  const set: { fault?: Fault | undefined } = {};
  const lists = new Map<string, number>();
  const changed = async (options: Dispatcher.RequestOptions) => {
    const answer = await request(options);
    if (set.fault === undefined || answer.statusCode !== 200) return answer;
    const [path = ''] = options.path.split('?');
    const nth = lists.get(path) ?? 0;
    const isList = /\/(members(\/microsoft.graph.user)?|groups\/\w+\/users)$/.test(path);
    if (isList) lists.set(path, nth + 1);
    const text = await answer.body.text();
    const { status = 200, body } = set.fault(JSON.parse(text), isList, nth);
    const shown = body === undefined ? text : typeof body === 'string' ? body : JSON.stringify(body);
    return { ...answer, statusCode: status, body: Readable.from([Buffer.from(shown)]) };
  };
  Object.assign(dispatcher, { request: changed });
  return set;
}

/** Replaces each list of members. */
const onLists =
  (status: number, body: unknown): Fault =>
  (_, isList) =>
    isList ? { status, body } : {};

/** Returns the body with some of its members, without counts unless `counts`, and with `count` if it is given. */
const cut =
  (keeps: (at: number, nth: number) => boolean, counts: boolean, count?: number): Fault =>
  (body, isList, nth) => {
    const countOf = (value: unknown) => {
      if (!counts) return undefined;
      return count === undefined || Number(value) === 0
        ? value
        : typeof value === 'string'
          ? String(count)
          : count;
    };
    const kept = (key: string, value: unknown) => {
      if (/directMembersCount|odata.count|usersCount/.test(key)) return countOf(value);
      const isMembers = isList && Array.isArray(value) && ['', 'members', 'value'].includes(key);
      return isMembers ? value.filter((_, at) => keeps(at, nth)) : value;
    };
    return { body: JSON.stringify(body, kept) };
  };

const ERRORS: readonly [string, Fault][] = [
  ['the status 429', onLists(429, {})],
  ['the status 503', onLists(503, {})],
  ['a page of HTML', onLists(200, '<html><body>Sign in</body></html>')],
  ['{}', onLists(200, {})],
  ['the status 404', onLists(404, {})],
  ['a body that breaks off', onLists(200, '{"kind":"admin#directory#members","mem')],
  ['[]', onLists(200, [])],
];

const WHOLE = [
  ['u-a', 'u-b'],
  ['u-c', 'u-d'],
];

describe.each(Object.entries(READERS))('an hour of wrong answers of %s', (vendor, open) => {
  const started = async () => {
    const reader = await settle(await open({ world, settings }), 40);
    const usersOf = () =>
      platformGroupsOf(reader)
        .map(({ users }) => users)
        .sort();
    expect(usersOf()).toEqual(WHOLE);
    const hour = async (each: () => void = () => {}) => {
      for (let minute = 0; minute < 60; minute += 5) {
        const failure = await reader.run({ isFull: true }).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure !== undefined) expect(failure).toBeInstanceOf(DirectoryError);
        await reader.pass(5 * MINUTE_MS);
        each();
      }
    };
    /** Checks that the next change of the directory reaches the platform within two hours. */
    const recovers = async () => {
      const isRight = () => isDeepStrictEqual(usersOf(), [['u-a', 'u-b'], ['u-c']]);
      await reader.change({ kind: 'removeMember', group: 'chess', member: 'd@acme.test' });
      await reader.run({ isFull: true });
      for (let minute = 0; minute < 120 && !isRight(); minute += 10) await reader.passMinutes(10);
      expect(usersOf()).toEqual([['u-a', 'u-b'], ['u-c']]);
    };
    return { ...reader, usersOf, hour, recovers };
  };

  it.each<[string, Fault]>([
    // The contract of the vendors proves that each vendor reports these answers as errors.
    ...(vendor === 'google' ? ERRORS : []),
    ['lists that are cut and have a count', cut((at) => at === 0, true)],
    ['lists that are cut elsewhere each time and have no count', cut((at, nth) => at === nth % 2, false)],
    ['lists that are empty in all groups and have a count', cut(() => false, true)],
  ])('removes no member, and the next change reaches the platform: %s', async (_name, fault) => {
    const { simulated, usersOf, hour, recovers } = await started();
    const set = between(simulated.world);
    set.fault = fault;
    await hour();
    for (const [at, users] of WHOLE.entries()) expect(usersOf()[at]).toEqual(expect.arrayContaining(users));
    set.fault = undefined;
    await recovers();
  });

  it.each([
    ['empty', cut(() => false, false)],
    ['cut', cut((at) => at === 0, false)],
  ])('the same %s lists without a count remove members only after the wait', async (_name, fault) => {
    const { simulated, usersOf, hour, recovers } = await started();
    const set = between(simulated.world);
    set.fault = fault;
    const shown: unknown[] = [];
    await hour(() => shown.push(usersOf()));
    expect(shown.slice(0, 2)).toEqual([WHOLE, WHOLE]);
    set.fault = undefined;
    await recovers();
  });

  it('flips between two complete lists are reported, and their end reaches the platform', async () => {
    const { simulated, hour, recovers, ports, world, passMinutes } = await started();
    const set = between(simulated.world);
    let minute = 0;
    await hour(() => {
      minute += 5;
      set.fault = minute % 20 < 10 ? undefined : cut((at) => at === 0, true, 1);
    });
    const all = { ...world.toolPorts, ...ports, index: world.toolPorts.index };
    const problems = async () => {
      const found = await findProblems(await world.connection(), all);
      return found.filter(({ count }) => count > 0).map(({ subject }) => subject);
    };
    expect(await problems()).toEqual(['reader_flips']);
    const [source] = await reportSources(await world.connection(), all);
    expect(source?.flips).toEqual([
      expect.stringMatching(/^chess \(2.*Z, 2.*Z\)$/),
      expect.stringMatching(/^rowing /),
    ]);
    expect(source && formatSource(source, String)).toContain('two alternating lists: chess (2');
    set.fault = undefined;
    await recovers();
    await passMinutes(120);
    expect(await problems()).toEqual([]);
  });

  it.each([10, -10])(
    'a clock of the reader that is %s minutes ahead removes no member, and the next change reaches the platform',
    async (minutes) => {
      const { simulated, usersOf, hour, recovers } = await started();
      simulated.clock.skewMs = minutes * MINUTE_MS;
      await hour();
      expect(usersOf()).toEqual(WHOLE);
      simulated.clock.skewMs = 0;
      await recovers();
    },
  );
});
