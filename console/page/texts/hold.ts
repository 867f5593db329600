import { many } from './many.ts';

export const hold = {
  title: (name: string) => `Hold of ${name}`,
  summary: (leaving: number, name: string) =>
    leaving === 0
      ? `${name} would be deleted on the platform.`
      : `${many(leaving, 'person', 'people')} would be removed from ${name} on the platform.`,
  stayingText: (count: number) =>
    `${many(count, 'person', 'people')} ${count === 1 ? 'stays' : 'stay'} in either case.`,
  gone: 'No removals of this group are held.',
  goneText: 'They were written, or the directory added these people again.',
  approvedPart: ({ removes, by, reason }: { removes: number; by: string; reason: string }) =>
    `${by} approved the removal of ${many(removes, 'other person', 'other people')} (${reason}). The next write removes them.`,
  back: 'View group',
  leaving: 'Would be removed',
  staying: 'Would stay',
  search: 'Search by name, address or department',
  csv: 'Download CSV',
  approve: 'Approve removals',
  reject: 'Reject removals',
  approveSome: (count: number) => `Approve ${many(count, 'removal')}`,
  othersHeld: (count: number) => `${many(count, 'other removal')} ${count === 1 ? 'stays' : 'stay'} held.`,
  approveTitle: (count: number) => (count === 0 ? 'Delete the group?' : `Approve ${many(count, 'removal')}?`),
  approveText: (count: number, name: string) =>
    count === 0
      ? `${name} will be deleted on the platform within seconds. This cannot be undone here.`
      : `${many(count, 'person', 'people')} will be removed from ${name} on the platform within seconds. This cannot be undone here: only the directory can add them again.`,
  rejectTitle: 'Reject these removals?',
  rejectText: (count: number) =>
    count === 0
      ? 'The group stays on the platform. You can approve its deletion later.'
      : `${many(count, 'person', 'people')} ${count === 1 ? 'stays' : 'stay'} in the group on the platform. You can approve the removals later.`,
  approved: 'Approved. The removals are being written.',
  rejected: 'Rejected. The members stay.',
  decided: (decision: string, by: string) => `${decision === 'approved' ? 'Approved' : 'Rejected'} by ${by}`,
  expires: 'Expires',
  created: 'Held',
  columns: { name: 'Name', department: 'Department', why: 'Directory', since: 'Event time' },
  what: {
    present: 'is a member',
    removed: 'was removed',
    left_out: 'is not in the latest list',
  } as Readonly<Record<string, string>>,
  unknown: 'The directory sent no event about this member',
  event: (id: string, source: string) => `event ${id} from ${source}`,
  noMatch: 'No people match the search.',
  none: 'No people.',
} as const;
