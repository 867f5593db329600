import type { Meter } from '../../simulate/table.ts';
import type { Tally } from './tally.ts';

/* Capacity units as Amazon DynamoDB bills them (developer guide, "DynamoDB read and write operations"). */

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;

/** A consistent read; half of it where the read is eventually consistent. Nothing found costs the minimum. */
const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES));
const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));

/** Counts the units of every operation, those of the index included. */
export const capacityMeter = (tally: Tally): Meter => ({
  read: (bytes, isIndex) => tally.add('dynamodb read units', readUnits(bytes) / (isIndex ? 2 : 1)),
  write: (bytes) => tally.add('dynamodb write units', writeUnits(bytes)),
  // A write whose condition fails is paid for all the same.
  refused(bytes) {
    tally.add('dynamodb write units', writeUnits(bytes));
    tally.add('dynamodb writes refused');
  },
});
