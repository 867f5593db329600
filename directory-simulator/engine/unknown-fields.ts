import type { SeededRandom } from '../../local/platform/seeded-random.ts';

/** The probability that an object gets an undocumented field. */
const SHARE = 0.3;

/** Adds undocumented fields to an answer and to the objects of its lists. */
export function withUnknownFields(answer: unknown, random: SeededRandom): unknown {
  if (typeof answer !== 'object' || answer === null) return answer;
  const fields = Object.entries(answer).map(([name, value]) => {
    if (!Array.isArray(value)) return [name, value] as const;
    return [name, value.map((item) => withOneMore(item, random))] as const;
  });
  return withOneMore(Object.fromEntries(fields), random);
}

function withOneMore(value: unknown, random: SeededRandom): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (!random.chance(SHARE)) return value;
  const added = random.pick([{ enabled: true }, [1, 'two', null], 'text', 7, null]);
  return { ...value, [`preview${random.hex(4)}`]: added };
}
