import { describe, expect, it } from 'vitest';
import { drawLife } from '../../simulate/draw.ts';
import { live } from '../../simulate/live.ts';
import { plantNamed } from '../../simulate/planted.ts';
import { keepOnly, shrink } from '../../simulate/shrink.ts';
import { tracePage } from '../../simulate/trace.ts';

describe('shrinking of a failing simulation run', () => {
  const life = drawLife(1, { days: 2, scale: 'small' });
  const { length } = life.happenings;

  it('keeps only the events that the failure needs', async () => {
    const needed = [life.happenings[3], life.happenings[Math.floor(length / 2)]];
    const shrunken = await shrink(
      life,
      async ({ happenings }) => needed.every((one) => one !== undefined && happenings.includes(one)),
      1_000,
    );
    expect(shrunken.life.happenings).toEqual(needed);
    expect(keepOnly(life, shrunken.kept)).toEqual(shrunken.life);
  });

  it('stops after the given number of runs, with a run that still fails', async () => {
    let lives = 0;
    const shrunken = await shrink(
      life,
      async ({ happenings }) => {
        lives += 1;
        return happenings.length > length / 2;
      },
      5,
    );
    expect(lives).toBeLessThanOrEqual(5);
    expect(shrunken.life.happenings.length).toBeGreaterThan(length / 2);
  });
});

describe('seeded bug', () => {
  it('a seeded bug is found, and its page begins with the violation', async () => {
    const life = drawLife(2, { days: 1, scale: 'small', only: [] });
    const outcome = await live(life, { tells: true, plant: plantNamed('no_audit') });
    const [violation] = outcome.violations;
    expect(violation).toMatchObject({ oracle: 'on_record', cause: 'write_without_audit' });
    const page = tracePage(outcome, 'npm run simulate -- --seed 2');
    expect(page).toContain(`<h1>${violation?.sentence}</h1>`);
    expect(page).toContain('npm run simulate -- --seed 2');
    expect(page).not.toMatch(/<script|https?:\/\//);
    // Without it the same life is as it should be.
    expect((await live(life)).violations.filter(({ cause }) => cause === 'write_without_audit')).toEqual([]);
  });
});
