import type { HeldPeopleCause, HoldLine, OtherRemovals } from '../../answers.ts';
import { many } from './many.ts';

const people = (count: number) => many(count, 'person', 'people');
const others = (count: number) => many(count, 'other person', 'other people');

export const hold = {
  title: (name: string) => `Hold of ${name}`,
  summary: {
    waiting: (leaving: number, all: number, name: string) =>
      leaving === 0
        ? `${name} would be deleted on the platform.`
        : `${leaving.toLocaleString('en')} of ${people(all)} would be removed from ${name} on the platform.`,
    approved: (leaving: number, all: number, name: string) =>
      leaving === 0
        ? `${name} is being deleted on the platform.`
        : `${leaving.toLocaleString('en')} of ${people(all)} are being removed from ${name} on the platform.`,
    rejected: (leaving: number, _: number, name: string) =>
      leaving === 0
        ? `${name} stays on the platform, because its deletion was rejected.`
        : `${people(leaving)} ${leaving === 1 ? 'stays' : 'stay'} in ${name}, because the removal was rejected.`,
  } satisfies Readonly<Record<HoldLine['decision'], (leaving: number, all: number, name: string) => string>>,
  because: ({ count, because }: HeldPeopleCause) => `${people(count)}: ${because}.`,
  event: (id: string, source: string) => `Event ${id} of ${source}`,
  noEvent: 'No event explains this.',
  sentBy: (by: string) => `sent by ${by}`,
  limit: 'Why held',
  gone: 'No removals of this group are held.',
  goneText: 'The removals were written, or the directory added the people again.',
  otherSet: {
    waiting: ({ removes }: OtherRemovals, rule: string) =>
      `The removal of ${others(removes)} waits, too: ${rule}`,
    approved: ({ removes, by, reason }: OtherRemovals) =>
      `${by} approved the removal of ${others(removes)} (${reason}). The next write removes them.`,
    rejected: ({ removes, by, reason }: OtherRemovals) =>
      `${by} rejected the removal of ${others(removes)} (${reason}). These people stay in the group.`,
  } satisfies Readonly<Record<HoldLine['decision'], (of: OtherRemovals, rule: string) => string>>,
  view: 'View these removals',
  people: {
    waiting: 'Would be removed',
    approved: 'Being removed',
    rejected: 'Removal rejected',
  } satisfies Readonly<Record<HoldLine['decision'], string>>,
  staying: 'Would stay',
  parts: 'People of the group',
  noDepartment: 'No department',
  selectAll: (count: number) => `Select all ${people(count)}`,
  selected: (count: number, all: number) => `${count.toLocaleString('en')} of ${people(all)} selected`,
  noneSelected: (count: number) =>
    count === 0
      ? 'The group has no people on the platform.'
      : `${people(count)}. To decide only about some people, select them.`,
  approve: (count: number, isAll: boolean) =>
    count === 0 ? 'Approve deletion' : `Approve ${isAll && count > 1 ? 'all ' : ''}${many(count, 'removal')}`,
  reject: (count: number, isAll: boolean) =>
    count === 0 ? 'Reject deletion' : `Reject ${isAll && count > 1 ? 'all ' : ''}${many(count, 'removal')}`,
  othersHeld: (count: number) => `${many(count, 'other removal')} ${count === 1 ? 'stays' : 'stay'} held.`,
  approveTitle: (count: number) => (count === 0 ? 'Delete the group?' : `Approve ${many(count, 'removal')}?`),
  approveText: (count: number, name: string) =>
    count === 0
      ? `${name} will be deleted on the platform within seconds. This cannot be undone here.`
      : `${people(count)} will be removed from ${name} on the platform within seconds. This cannot be undone here: only the directory can add them again.`,
  rejectTitle: (count: number) => (count === 0 ? 'Keep the group?' : `Reject ${many(count, 'removal')}?`),
  rejectText: (count: number) =>
    count === 0
      ? 'The group stays on the platform. To change this decision later, use the command line.'
      : `${people(count)} ${count === 1 ? 'stays' : 'stay'} in the group on the platform. To change this decision later, use the command line.`,
  approved: 'Approved. The removals are being written.',
  rejected: 'Rejected. The members stay.',
  decision: 'Decision',
  earlier: 'Decisions about this group',
  decisions: {
    waiting: 'Waiting',
    approved: 'Approved',
    rejected: 'Rejected',
  } satisfies Readonly<Record<HoldLine['decision'], string>>,
  decided: (decision: string, by: string) => `${decision === 'approved' ? 'Approved' : 'Rejected'} by ${by}`,
  expires: 'Expires',
  created: 'Held',
  columns: { name: 'Name', department: 'Department', cause: 'Cause' },
  noMatch: 'No people match the search.',
  none: 'No people.',
} as const;

export const holds = {
  empty: 'No removals are held.',
  decided: 'Decisions',
  emptyText:
    'Removals above the limits of the connection appear here until an operator approves or rejects them.',
  columns: { group: 'Group', removes: 'Removals', limit: 'Why held', created: 'Held', decision: 'Decision' },
  removals: (removes: number) => (removes === 0 ? 'The whole group' : many(removes, 'removal')),
  of: (all: number, share: string) => `of ${people(all)} · ${share}`,
  shortOf: (all: number, share: string) => `${share} of ${all.toLocaleString('en')}`,
} as const;
