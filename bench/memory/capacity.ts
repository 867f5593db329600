import type { Meter } from '../../simulate/table.ts';
import type { Totals } from './totals.ts';

/* Capacity units as Amazon DynamoDB bills them (developer guide, "DynamoDB read and write operations"). */

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;

/** Returns the units of a strongly consistent read, at least one. An eventually consistent read costs half. */
const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES));
const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));

export const capacityMeter = (totals: Totals): Meter => ({
  read: (bytes, isIndex) => totals.add('dynamodb read units', readUnits(bytes) / (isIndex ? 2 : 1)),
  write: (bytes) => totals.add('dynamodb write units', writeUnits(bytes)),
  // A write whose condition fails is billed too.
  refused(bytes) {
    totals.add('dynamodb write units', writeUnits(bytes));
    totals.add('dynamodb writes refused');
  },
});
