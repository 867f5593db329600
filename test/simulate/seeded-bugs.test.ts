import { expect, it } from 'vitest';
import { holdsOf } from '../../shared/domain/hold.ts';
import { platformUserId } from '../../shared/domain/ids.ts';
import { actsOf } from '../../simulate/acts.ts';
import { drawRun } from '../../simulate/draw.ts';
import { BY_REQUEST } from '../../simulate/draw-scim.ts';
import { toScim } from '../../simulate/draw-takeovers.ts';
import { execute } from '../../simulate/execute.ts';
import type { WrapPorts } from '../../simulate/lambdas.ts';
import { APPROVERS, OPERATORS } from '../../simulate/persons.ts';
import type { Violation } from '../../simulate/run-log.ts';
import { seededBugNamed } from '../../simulate/seeded-bugs.ts';
import { at, atGroups, atTable } from '../../simulate/seeding.ts';
import { type Happening, HOUR_MS } from '../../simulate/simulation-run.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** A bug: apply sends no removal of this user, because an operator rejected it once. */
const keeping = (user: string): WrapPorts =>
  atGroups(({ patch }) => ({
    patch: (id, fields, version) => {
      const users = fields.users && [...new Set([...fields.users, platformUserId(user)])];
      return patch(id, users === undefined ? fields : { ...fields, users }, version);
    },
  }));

/** A bug: while the deletion of a group is rejected, apply changes no user of the group. */
const keepingAll: WrapPorts = (ports, actor) => {
  let isRejected = false;
  const noting = at('groups', ({ read }) => ({
    read: async (ref) => {
      const state = await read(ref);
      isRejected = holdsOf(state ?? {}).some((one) => one.deletes && one.decision.kind === 'rejected');
      return state;
    },
  }));
  const withoutUsers = atGroups(({ patch }) => ({
    patch: (id, { users, ...fields }, version) =>
      patch(id, isRejected || users === undefined ? fields : { ...fields, users }, version),
  }));
  return withoutUsers(noting(ports, actor), actor);
};

/** A bug: a takeover moves the state of the platform group, but not this attribute. */
const losing = (attribute: string): WrapPorts =>
  atTable((table) => ({
    update: (key, { set = {}, ...change }, ...how) => {
      const { [attribute]: _, ...others } = set;
      const isMove = JSON.stringify(set['link'])?.includes('"takeOver":true') === true;
      return table.update(key, { ...change, set: isMove ? others : set }, ...how);
    },
  }));

/** A bug: the list of platform groups lacks the group whose name a group of another source has. */
const withoutNamesake: WrapPorts = atGroups(({ list }) => ({
  list: async (ageMs) => (await list(ageMs)).filter((one) => !('name' in one) || one.name !== WHOLE.name),
}));

/** A bug: groupsync does not know who created a token. */
const withoutCreators: WrapPorts = at('tokens', ({ find }) => ({
  find: async (prefix) => {
    const token = await find(prefix);
    return token && { ...token, creators: [] };
  },
}));

const bugNamed = (name: string) => seededBugNamed(name) ?? ((ports) => ports);

const group = 'g1';
const members = Array.from({ length: 9 }, (_, index) => `p${index}`);
const WHOLE = { kind: 'snapshot', group, name: 'Team', members, parts: 1 } as const;
const reject = { kind: 'reject', group, oldMs: 0 } as const;

function withUndos(name: string): readonly Happening[] {
  const { event, operator, company } = actsOf(name);
  return [
    event(HOUR_MS, { ...WHOLE, members: members.slice(0, 5) }),
    operator(2 * HOUR_MS, { kind: 'import', group, members: members.slice(0, 6), lists: 'add', ageMs: 0 }),
    event(3 * HOUR_MS, { kind: 'leave', group, members: ['p1'] }),
    operator(4 * HOUR_MS, { kind: 'undo_import', group }),
    operator(6 * HOUR_MS, { kind: 'undo', group, agoMs: 3.5 * HOUR_MS }),
    company(6.1 * HOUR_MS, { kind: 'erase', role: `r-${name}-p3` }),
  ];
}

/** Features that meet, with a bug of their meeting, and the check that finds it. */
const MEETINGS: readonly (readonly [
  title: string,
  found: string,
  bug: (connection: string) => WrapPorts,
  happenings: (connection: string) => readonly Happening[],
])[] = [
  [
    'four eyes, and a SCIM token that the approver asked for',
    'two_persons own_removal',
    () => withoutCreators,
    (name) => {
      const { event, operator } = actsOf(name);
      const [author = '', , other] = OPERATORS;
      const users = members.slice(0, 6).map((one) => ({ member: `q-${one}`, email: `${one}@${name}.test` }));
      const scim = { ...WHOLE, group: `s-${group}`, members: users.map(({ member }) => member) };
      return [
        operator(HOUR_MS / 4, { kind: 'new_token' }, author),
        operator(HOUR_MS / 2, { kind: 'confirm' }, other),
        ...users.map((one) => event(HOUR_MS, { kind: 'profile', ...one }, BY_REQUEST)),
        event(2 * HOUR_MS, scim, BY_REQUEST),
        event(3 * HOUR_MS, { ...scim, members: ['q-p0'] }, BY_REQUEST),
        operator(4 * HOUR_MS, { kind: 'approve', group: scim.group, oldMs: 0 }, author),
      ];
    },
  ],
  [
    'a rejection, a return of the user, and a later removal',
    'decision outlived',
    (name) => keeping(`u-r-${name}-p3`),
    (name) => {
      const { event, operator } = actsOf(name);
      return [
        event(HOUR_MS, WHOLE),
        event(2 * HOUR_MS, { ...WHOLE, members: ['p0'] }),
        operator(3 * HOUR_MS, reject, APPROVERS[0]),
        event(4 * HOUR_MS, WHOLE),
        event(6 * HOUR_MS, { kind: 'leave', group, members: ['p3'] }),
      ];
    },
  ],
  [
    'a rejected deletion of a group, and a person whose employment ends',
    'truth stuck',
    () => keepingAll,
    (name) => {
      const { event, operator, company } = actsOf(name);
      return [
        event(HOUR_MS, WHOLE),
        event(2 * HOUR_MS, { kind: 'delete', group }),
        operator(3 * HOUR_MS, reject, APPROVERS[0]),
        company(5 * HOUR_MS, { kind: 'terminate', role: `r-${name}-p3` }),
      ];
    },
  ],
  [
    'a pause, a takeover, and a removal of the new source',
    'pause write',
    () => losing('pausedAt'),
    (name) => {
      const { event, operator } = actsOf(name);
      const leave = { kind: 'leave', group: `s-${group}`, members: ['q-p3'] } as const;
      return [
        event(HOUR_MS, { ...WHOLE, name: `Taken ${group} ${name}` }),
        operator(2 * HOUR_MS, { kind: 'pause', group }),
        ...toScim({ town: { name }, group, members }, 3 * HOUR_MS),
        event(5 * HOUR_MS, leave, BY_REQUEST),
      ];
    },
  ],
  [
    'a rejection, and a takeover after which fewer removals are left than the guard permits',
    'decision rejected_removal',
    () => losing('removals'),
    (name) => {
      const { event, operator } = actsOf(name);
      // The connection has people for the first six members.
      const taken = { ...WHOLE, name: `Taken ${group} ${name}` };
      const pushed = toScim({ town: { name }, group, members: members.slice(0, 5) }, 2.5 * HOUR_MS);
      return [
        event(HOUR_MS, taken),
        event(2 * HOUR_MS, { ...taken, members: members.slice(0, 3) }),
        ...pushed.filter((one) => one.actor === 'directory' && one.way.form === 'scim_request'),
        operator(3 * HOUR_MS, reject, APPROVERS[0]),
        operator(4 * HOUR_MS, { kind: 'takeover', to: 'scim' }),
        operator(5 * HOUR_MS, { kind: 'resume_all' }),
      ];
    },
  ],
  [
    'a takeover, and a write whose worker stopped before the audit entry',
    'on_record write_without_audit',
    () => losing('intent'),
    (name) => {
      const { event, aws } = actsOf(name);
      const crash = { kind: 'crash', lambda: 'apply', effect: 'put A#', nth: 1 } as const;
      return [
        event(HOUR_MS, { ...WHOLE, name: `Taken ${group} ${name}` }),
        ...toScim({ town: { name }, group, members }, 3 * HOUR_MS),
        aws(3 * HOUR_MS - 90_000, crash),
        event(3 * HOUR_MS - 60_000, { kind: 'leave', group, members: ['p3'] }),
      ];
    },
  ],
  [
    'a group, and a group of another source with the same name',
    'one_group second_group',
    () => withoutNamesake,
    (name) => {
      const { event } = actsOf(name);
      const profile = { kind: 'profile', member: 'q-p0', email: `p0@${name}.test` } as const;
      return [
        event(HOUR_MS, WHOLE),
        event(2 * HOUR_MS, profile, BY_REQUEST),
        event(3 * HOUR_MS, { ...WHOLE, group: `s-${group}`, members: ['q-p0'] }, BY_REQUEST),
      ];
    },
  ],
  ['an import, and its undo', 'undone import', () => bugNamed('undo_partly'), withUndos],
  ['a removal, and the undo to an earlier time', 'undone lost', () => bugNamed('moment_misread'), withUndos],
  [
    'four eyes, and the undo of an import',
    'two_persons own_removal',
    () => bugNamed('imports_unsigned'),
    (name) => {
      const { event, operator } = actsOf(name);
      const adds = { kind: 'import', group, members: members.slice(2, 6), lists: 'add', ageMs: 0 } as const;
      const [author, , other] = OPERATORS;
      return [
        event(HOUR_MS, { ...WHOLE, members: members.slice(0, 2) }),
        operator(2 * HOUR_MS, adds, other),
        operator(3 * HOUR_MS, { kind: 'undo_import', group }, author),
        operator(4 * HOUR_MS, { kind: 'approve', group, oldMs: 0 }, author),
      ];
    },
  ],
];

it.each(MEETINGS)(
  'a check finds the seeded bug in the meeting of: %s',
  async (_, found, bug, happenings) => {
    const drawn = drawRun(1, { days: 1, scale: 'small' });
    const [first] = drawn.connections;
    if (first === undefined) throw new Error('expected a connection');
    const guard = { minSize: 3, maxRemovedShare: 0.4, deletedGroups: 0, deletedGroupsShare: 0 };
    const connections = [{ ...first, settings: { guard, fourEyes: true } }];
    const sorted = happenings(first.name).toSorted((a, b) => a.atMs - b.atMs);
    const run = { ...drawn, connections, happenings: sorted };
    const sortOf = ({ check, cause }: Pick<Violation, 'check' | 'cause'>) => `${check} ${cause}`;
    const violationsWith = async (wrapPorts?: WrapPorts) =>
      (await execute(run, { wrapPorts, endsAt: (one) => sortOf(one) === found })).violations.map(sortOf);
    expect(await violationsWith()).toEqual([]);
    expect(await violationsWith(bug(first.name))).toContain(found);
  },
  PATIENCE_MS,
);
