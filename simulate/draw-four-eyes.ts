import { actsOf } from './acts.ts';
import type { Town } from './draw-people.ts';
import { APPROVERS, OPERATORS } from './persons.ts';
import { between, type Random } from './random.ts';
import { type Happening, HOUR_MS, MINUTE_MS, type OperatorAction } from './simulation-run.ts';

/** Changes that a second person must confirm while four eyes is on. */
const REQUESTED: readonly OperatorAction[] = [
  { kind: 'set', key: 'fourEyes', value: false },
  { kind: 'set', key: 'guard.maxRemovedCount', value: 500 },
  { kind: 'set', key: 'guard', value: null },
  { kind: 'new_token' },
  { kind: 'new_client' },
];

/**
 * For a connection with four eyes, draws operators who send the removal of most members, approvals by the same person
 * and by others, and requests that the same person and others confirm or reject.
 */
export function drawFourEyes(
  random: Random,
  { town: { name: connection, groups, settings }, endMs }: { readonly town: Town; readonly endMs: number },
): readonly Happening[] {
  if (settings['fourEyes'] !== true) return [];
  const from = (startMs: number, actions: readonly (readonly [action: OperatorAction, by: string])[]) => {
    let atMs = startMs;
    return actions.map(([action, by]): Happening => {
      const one = actsOf(connection).operator(atMs, action, by);
      atMs += between(random, 5, 120) * MINUTE_MS;
      return one;
    });
  };
  const anyTime = () => between(random, HOUR_MS, Math.max(HOUR_MS, endMs - 8 * HOUR_MS));
  const anyPerson = () => random.pick([...OPERATORS, ...APPROVERS]);
  const removals = Array.from({ length: between(random, 1, 4) }, () => {
    const group = random.pick(groups);
    const sender = random.pick(OPERATORS);
    const event = { kind: 'snapshot', group, name: null, members: ['p0', 'p1'], parts: 1 } as const;
    const approve = { kind: 'approve', group, oldMs: 0, isPart: random.chance(0.2) } as const;
    const approvers = [sender, anyPerson(), random.pick(APPROVERS)];
    const approvals = approvers.map((by) => [approve, by] as const);
    return from(anyTime(), [[{ kind: 'send', event }, sender], ...approvals]);
  });
  const requests = Array.from({ length: between(random, 1, 3) }, () => {
    const [author, other] = [random.pick(OPERATORS), anyPerson()];
    const kind = random.chance(0.75) ? 'confirm' : 'reject_requests';
    const key = 'guard.maxRemovedCount';
    const isOutdated = random.fork('outdated').chance(0.3);
    const changes = [2, 1].map((value) => [{ kind: 'set', key, value }, author] as const);
    return from(anyTime(), [
      [random.pick(REQUESTED), author],
      [{ kind: 'confirm' }, author],
      ...(isOutdated ? changes : []),
      [{ kind }, other],
      [{ kind: 'set', key: 'fourEyes', value: true }, author],
    ]);
  });
  return [...removals, ...requests].flat();
}
