import { isDeepStrictEqual } from 'node:util';
import { roleOf, type Town } from './draw-people.ts';
import type { OperatorAction } from './simulation-run.ts';

/** Two features, `FIRST > SECOND` (features.ts), that one group of the run must meet in this order. */
export type Pair = string;

type Needs = Readonly<Record<string, unknown>>;

/** The guard holds the removal of most members, and no deletion of a group. */
const HOLDS = { minSize: 3, maxRemovedShare: 0.4, deletedGroups: 100 };
export const POLICY = { match: '*1', mode: 'additive' };

/** The first settings, and the credential, without which a feature does not take effect. */
const NEEDS_OF: Readonly<Record<string, Needs>> = {
  'option:memberIdField=id': { memberIdField: 'id' },
  'option:mode=additive': { mode: 'additive' },
  'option:mode=report': { mode: 'report', fourEyes: false },
  'option:onGroupDeleted=release': { onGroupDeleted: 'release' },
  'option:fourEyes=true': { fourEyes: true },
  'option:guard=off': { guard: null },
  'option:people': { people: { exclude: ['email=p6@a.test', 'email=p6@b.test'] } },
  'option:groups': { groups: { policies: [POLICY] } },
  'option:nameTemplate': { nameTemplate: '{name} ({connection})' },
  'operator:approve': { mode: 'authoritative', guard: HOLDS },
  'operator:reject': { mode: 'authoritative', guard: HOLDS },
  'operator:connect': { credential: 'static' },
  'operator:remove_connection': { credential: 'static', fourEyes: false },
  'set:onGroupDeleted': { onGroupDeleted: 'release' },
  'platformFault:deletes_ignored': { mode: 'authoritative', onGroupDeleted: 'delete', guard: HOLDS },
  'platformFault:keeps_users': { mode: 'authoritative' },
  'platformFault:token_expires': { credential: 'oauth' },
};

/** Returns the changes of settings that the second feature needs after an option that contradicts it. */
export const changesFor = (second: string, { settings }: Town): readonly OperatorAction[] =>
  (['guard', 'onGroupDeleted'] as const).flatMap((key) => {
    const value = NEEDS_OF[second]?.[key];
    const isSet = value === undefined || isDeepStrictEqual(settings[key], value);
    return isSet ? [] : [{ kind: 'set', key, value }];
  });

/** Returns what both features need. If their needs differ, the first feature counts. */
export function needsOf(pair: Pair): Needs {
  const [first = '', second = ''] = pair.split(' > ');
  return { ...NEEDS_OF[second], ...NEEDS_OF[first] };
}

/** Returns the first `most` pairs that one connection can meet. Only pairs of the mode `report` get this mode. */
export function compatible(pairs: readonly Pair[], most: number): readonly Pair[] {
  const [first = ''] = pairs;
  const isReport = (pair: Pair) => needsOf(pair)['mode'] === 'report';
  const all: Record<string, unknown> = {};
  const fitting = pairs.filter((pair) => {
    const needs = Object.entries(needsOf(pair));
    const isFit = needs.every(([key, value]) => !(key in all) || isDeepStrictEqual(all[key], value));
    if (!isFit || isReport(pair) !== isReport(first)) return false;
    Object.assign(all, needsOf(pair));
    return true;
  });
  return fitting.slice(0, most);
}

/** Returns the connection with the settings that the pairs need, and with employees who are found and active. */
export function meetingTown(town: Town, pairs: readonly Pair[]): Town {
  const { credential, ...needs } = Object.assign({}, ...pairs.map(needsOf)) as Needs;
  const { mode, ...drawn } = town.settings;
  // The pairs name members up to `p14`.
  const named = Array.from({ length: 15 }, (_, n) => {
    return { role: roleOf(town.name, `p${n}`), email: `p${n}@${town.name}.test` };
  });
  const others = town.people.filter(({ role }) => named.every((one) => one.role !== role));
  return {
    ...town,
    ...(credential !== undefined && { credential: credential as 'oauth' }),
    people: [...named, ...others],
    settings: { ...drawn, mode: mode === 'report' ? 'authoritative' : mode, ...needs } as Town['settings'],
  };
}
