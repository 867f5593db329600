import type { Meter } from '../../simulate/table.ts';
import type { Throughput } from './throughput.ts';
import type { Totals } from './totals.ts';

/* Capacity units as Amazon DynamoDB bills them (developer guide, "DynamoDB read and write operations"). */

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;

/** Returns the units of a strongly consistent read, at least one. An eventually consistent read costs half. */
const readUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES));
const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES));

/** @param limits returns the limits of the table, which count the used units too; undefined: no limits */
export const capacityMeter = (
  totals: Totals,
  limits: () => Throughput | undefined = () => undefined,
): Meter => ({
  read(bytes, isIndex, partition) {
    const units = readUnits(bytes) / (isIndex ? 2 : 1);
    totals.add('dynamodb read units', units);
    limits()?.use('read', isIndex, partition, units);
  },
  write(bytes, isIndex, partition) {
    totals.add('dynamodb write units', writeUnits(bytes));
    limits()?.use('write', isIndex, partition, writeUnits(bytes));
  },
  // A write whose condition fails is billed too.
  refused(bytes, partition) {
    totals.add('dynamodb write units', writeUnits(bytes));
    totals.add('dynamodb writes refused');
    limits()?.use('write', false, partition, writeUnits(bytes));
  },
});
