import fc from 'fast-check';
import { expect } from 'vitest';
import { makeStamp, normaliseInstant, parseStamp, type StampParts } from '../../shared/domain/stamp.ts';
import { always } from '../support/engine/runs.ts';

interface Spec {
  readonly second: number;
  readonly nanos: number;
  readonly offsetMinutes: number;
  readonly sequence: bigint | undefined;
  readonly zeros: number;
  readonly id: string;
}

const FIRST_SECOND = Date.UTC(2026, 0, 1) / 1000;

/** Generates the parts of a stamp from only a few times, sequences and ids, so that equal parts are common. */
const spec: fc.Arbitrary<Spec> = fc.record({
  second: fc.integer({ min: FIRST_SECOND, max: FIRST_SECOND + 3 }),
  nanos: fc.constantFrom(0, 1, 120_000_000, 999_999_999),
  offsetMinutes: fc.integer({ min: -23 * 60, max: 23 * 60 }),
  sequence: fc.option(fc.oneof(fc.bigInt({ min: 0n, max: 12n }), fc.bigInt({ min: 0n, max: 10n ** 30n })), {
    nil: undefined,
  }),
  zeros: fc.integer({ min: 0, max: 1 }),
  id: fc.oneof(
    fc.constantFrom('a', 'b', 'ab', '\u{ff5e}', '\u{1f600}'),
    fc.string({ unit: 'grapheme', minLength: 1 }),
  ),
});

function timeOf({ second, nanos, offsetMinutes }: Spec): string {
  const local = new Date((second + offsetMinutes * 60) * 1000).toISOString().slice(0, 19);
  const sign = offsetMinutes < 0 ? '-' : '+';
  const minutes = Math.abs(offsetMinutes);
  const offset = [Math.floor(minutes / 60), minutes % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  return `${local}.${String(nanos).padStart(9, '0')}${sign}${offset}`;
}

const partsOf = (from: Spec): StampParts => ({
  time: timeOf(from),
  sequence: from.sequence === undefined ? undefined : `${'0'.repeat(from.zeros)}${from.sequence}`,
  id: from.id,
  source: 'test',
});

/** Compares by the documented order: time, then sequence as a number (absent first), then the bytes of the id. */
function compareSpecs(a: Spec, b: Spec): number {
  if (a.second !== b.second) return Math.sign(a.second - b.second);
  if (a.nanos !== b.nanos) return Math.sign(a.nanos - b.nanos);
  const left = a.sequence ?? -1n;
  const right = b.sequence ?? -1n;
  if (left !== right) return left < right ? -1 : 1;
  return Buffer.compare(Buffer.from(a.id), Buffer.from(b.id));
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

always(
  'stamps compare as text exactly as time, sequence number and id bytes do',
  fc.property(spec, spec, (a, b) => {
    expect(compareText(makeStamp(partsOf(a)), makeStamp(partsOf(b)))).toBe(compareSpecs(a, b));
  }),
);

always(
  'parseStamp returns the parts from which makeStamp made the text',
  fc.property(spec, (a) => {
    const stamp = makeStamp(partsOf(a));
    expect(parseStamp(stamp)).toBe(stamp);
    expect(stamp).toMatch(/^[\x20-\x7e]*$/);
  }),
);

always(
  'only text that makeStamp writes is read as a stamp',
  fc.property(
    spec,
    fc.nat(),
    fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
    (a, at, by) => {
      const stamp = makeStamp(partsOf(a));
      const place = at % stamp.length;
      const mutated = `${stamp.slice(0, place)}${by}${stamp.slice(place + 1)}`;
      const parsed = parseStamp(mutated);
      expect(parsed === undefined || parsed === mutated).toBe(true);
      if (parsed !== undefined) expect(normaliseInstant(parsed.slice(0, 30))).toBe(parsed.slice(0, 30));
    },
  ),
);

always(
  'normaliseInstant is idempotent, and equal for equal instants of different offsets',
  fc.property(spec, fc.integer({ min: -23 * 60, max: 23 * 60 }), (a, offsetMinutes) => {
    const instant = normaliseInstant(timeOf(a));
    expect(instant).toBeDefined();
    expect(normaliseInstant(instant ?? '')).toBe(instant);
    expect(normaliseInstant(timeOf({ ...a, offsetMinutes }))).toBe(instant);
  }),
);

always(
  'normaliseInstant accepts or refuses any text and never throws',
  fc.property(fc.string(), (text) => {
    const instant = normaliseInstant(text);
    expect(instant === undefined || instant.length === 30).toBe(true);
  }),
);
