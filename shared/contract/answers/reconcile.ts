import * as z from 'zod';
import { DRIFT_KINDS } from '../../domain/drift.ts';
import { type Answer, count, instant, ms, nullable, text } from './forms.ts';

/** The results of one run. Apply settles drift, so the numbers of drift are those since the previous run. */
export const ReconcileReport = z.object({
  connection: text,
  eventsRead: count,
  groupsTouched: count,
  /** Groups whose version came from groupsync's own write. */
  echoes: count,
  drift: z.record(text, count),
  restored: count,
  reported: count,
  adopted: count,
  /** Platform groups that carry the id of a directory group and are not linked to it. */
  orphans: count,
  /** Links whose platform group is not listed. */
  missing: count,
  reenqueued: count,
  cursor: nullable(text),
  durationMs: ms,
});
export type ReconcileReport = Answer<typeof ReconcileReport>;

export const PeopleReport = z.object({
  connection: text,
  read: count,
  changed: count,
  woken: count.describe('Groups that are read again.'),
  asked: count.describe('Employees that were fetched by id, because the listing did not contain them.'),
  /** Employees that were fetched by id and do not exist. */
  gone: count,
});
export type PeopleReport = Answer<typeof PeopleReport>;

export const PlanEffect = z.object({
  groups: count.describe('Groups whose plan differs.'),
  added: count,
  removed: count,
  held: count,
  dropped: count.describe('Changes that were planned before and would not be made any more.'),
});
export type PlanEffect = Answer<typeof PlanEffect>;

export const PeoplePreview = z.object({
  connection: text,
  preview: PlanEffect.describe('With --dry-run: what the refresh would change.'),
});

const Side = nullable(z.union([text, z.array(text)]));

export const DriftRow = z.object({
  id: text,
  group: text,
  kind: z.enum(DRIFT_KINDS),
  initiator: text,
  actor: nullable(z.object({ role: nullable(text), name: nullable(text) })),
  before: Side,
  after: Side,
  settledBy: nullable(text),
  detectedAt: instant,
  /** When the difference was seen on the platform. */
  seenAt: instant,
  settledAt: nullable(instant),
});
export type DriftRow = Answer<typeof DriftRow>;
