import { drawLife } from './draw.ts';
import { CRASH_POINTS, crashPoints } from './draw-trouble.ts';
import type { Happening, LambdaName } from './life.ts';

/** So many lives have every temper, fault and deed drawn (test/simulate/draw.test.ts). */
const LIVES = 300;

/** Names of all that can fire in a life; what never did in a deep run was not tried. */
export function everythingThatCanFire(): readonly string[] {
  const names = new Set<string>(['trait:installer', 'asked']);
  for (let seed = 1; seed <= LIVES; seed += 1) {
    for (const happening of drawLife(seed).happenings) for (const name of namesOf(happening)) names.add(name);
  }
  for (const lambda of Object.keys(CRASH_POINTS) as LambdaName[]) {
    for (const effect of crashPoints(lambda)) names.add(`crash:${lambda}:${effect}`);
  }
  return [...names].sort();
}

function namesOf(happening: Happening): readonly string[] {
  const { actor, deed } = happening;
  if (actor === 'platform') return [`temper:${happening.deed.temper}`];
  if (deed.kind === 'crash') return [];
  return [`${actor}:${deed.kind}`, ...(actor === 'directory' ? [`way:${happening.way.form}`] : [])];
}
