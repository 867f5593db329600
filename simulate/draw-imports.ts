import { actsOf } from './acts.ts';
import type { Town } from './draw-people.ts';
import { BY_REQUEST } from './draw-scim.ts';
import { APPROVERS, OPERATORS } from './persons.ts';
import { between, type Random, some, weighted } from './random.ts';
import { type Happening, HOUR_MS, MINUTE_MS, type OperatorAction } from './simulation-run.ts';

/** The share of connections with imports. */
const IMPORTS = 0.4;

/** Draws imports and undos of one group, with events and decisions of persons between them. */
export function drawImports(
  random: Random,
  { town: { name, groups, count, hasScim }, endMs }: { readonly town: Town; readonly endMs: number },
): readonly Happening[] {
  if (!random.chance(IMPORTS)) return [];
  const group = hasScim && random.chance(0.2) ? `s${random.below(4)}` : random.pick(groups);
  const prefix = group.startsWith('s') ? 'q' : 'p';
  const membersIn = (most: number) => {
    const all = Array.from({ length: Math.min(count, prefix === 'q' ? 6 : 12) }, (_, n) => `${prefix}${n}`);
    return some(random, all, between(random, 1, most));
  };
  const ages = {
    none: 0,
    minutes: between(random, 1, 60) * MINUTE_MS,
    hours: between(random, 1, 20) * HOUR_MS,
  };
  const author = random.pick(OPERATORS);
  const imports = (): OperatorAction => {
    const lists = weighted(random, { snapshot: 3, add: 2, remove: 2 });
    const ageMs = ages[weighted(random, { none: 2, minutes: 2, hours: 1 })];
    return { kind: 'import', group, members: membersIn(lists === 'snapshot' ? 9 : 3), lists, ageMs };
  };
  const steps: Readonly<Record<string, () => OperatorAction>> = {
    import: imports,
    undo_import: () => ({ kind: 'undo_import', group }),
    undo: () => ({ kind: 'undo', group, agoMs: between(random, 5, 900) * MINUTE_MS }),
    approve: () => ({ kind: 'approve', group, oldMs: 0, isPart: random.chance(0.3) }),
    reject: () => ({ kind: 'reject', group, oldMs: 0 }),
    pause: () => ({ kind: 'pause', group }),
    resume: () => ({ kind: 'resume', group }),
  };
  const weights = {
    undo_import: 4,
    undo: 4,
    import: 3,
    event: 2,
    approve: 2,
    reject: 1,
    pause: 1,
    resume: 2,
  };
  const { event, operator } = actsOf(name);
  let atMs = between(random, 3 * HOUR_MS, Math.max(3 * HOUR_MS, endMs - 14 * HOUR_MS));
  return ['import', ...Array.from({ length: 9 }, () => weighted(random, weights)), 'resume'].map((kind) => {
    const nowMs = atMs;
    atMs += between(random, 1, 100) * MINUTE_MS;
    const draw = steps[kind];
    if (draw === undefined) {
      const joins = random.pick(['join', 'leave'] as const);
      return event(nowMs, { kind: joins, group, members: membersIn(2) }, prefix === 'q' ? BY_REQUEST : {});
    }
    const isOther = /^(?:approve|reject)/.test(kind) && random.chance(0.6);
    return operator(nowMs, draw(), isOther ? random.pick(APPROVERS) : author);
  });
}
