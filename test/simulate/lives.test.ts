import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { drawLife } from '../../simulate/draw.ts';
import { lifeReport, readKnown, unknownOf } from '../../simulate/judgement.ts';
import { DAY_MS } from '../../simulate/life.ts';
import { live } from '../../simulate/live.ts';
import { type Answer, liveMany } from '../../simulate/lives.ts';

/** As many as pass in a minute on a slow machine, both sets together; `npm run simulate` lives more. */
const FIXED = [1, 3, 5, 11];
const FRESH = 3;

/** By the commit's tree: a change tries other lives than the one before, and CI those that its author saw. */
function freshSeeds(): readonly number[] {
  const tree = execFileSync('git', ['rev-parse', 'HEAD^{tree}'], { encoding: 'utf8' });
  const first = Number.parseInt(tree.slice(0, 7), 16);
  return Array.from({ length: FRESH }, (_, place) => first + place);
}

describe('a simulation run of a week', () => {
  const known = readKnown();

  it('a simulation run has no violation except those of known.json', async () => {
    const seeds = [...FIXED, ...freshSeeds()];
    const wrong: object[] = [];
    const errands = seeds.map((seed) => ({ seed, draw: {} }));
    await liveMany(errands.values(), 1, (answer) => {
      const { seed } = 'report' in answer ? answer.report : answer;
      seeds.splice(seeds.indexOf(seed), 1);
      const found = 'report' in answer ? unknownOf(answer.report.violations, known) : [answer.broke];
      if (found.length > 0) wrong.push({ liveItAgain: `npm run simulate -- --seed ${seed}`, found });
    });
    expect({ wrong, notLived: seeds }).toEqual({ wrong: [], notLived: [] });
  });

  it('a simulation run may last two years with few events', async () => {
    const life = drawLife(2, { long: true, scale: 'small' });
    const outcome = await live(life);
    expect(unknownOf(outcome.violations, known)).toEqual([]);
    expect(outcome.figures.simulatedMs).toBeGreaterThan(700 * DAY_MS);
    expect(outcome.figures.effects).toBeLessThan(400_000);
  });

  it('a simulation run is the same for the same seed', async () => {
    const life = drawLife(7, { days: 1, scale: 'small' });
    const [first, second] = [await live(life, { tells: true }), await live(life, { tells: true })];
    expect(first.told.length).toBeGreaterThan(100);
    expect(second.told).toEqual(first.told);
    expect(second.figures).toEqual(first.figures);
  });

  it('gives the same result in the bundle for many runs, which caches parsed items', async () => {
    const draw = { days: 1, scale: 'small' } as const;
    const answers: Answer[] = [];
    await liveMany([{ seed: 7, draw }].values(), 1, (answer) => answers.push(answer));
    const here = lifeReport(await live(drawLife(7, draw)));
    expect(answers).toMatchObject([{ report: { seed: 7, figures: here.figures, fired: here.fired } }]);
  });
});

describe('known.json', () => {
  it('describes each known violation once, with its effect on people and the work that fixes it', () => {
    const known = readKnown();
    expect(new Set(known.map(({ oracle, cause }) => `${oracle} ${cause}`)).size).toBe(known.length);
    for (const { what, fixedBy } of known)
      expect([what, fixedBy].every((text) => text.length > 10)).toBe(true);
  });
});
