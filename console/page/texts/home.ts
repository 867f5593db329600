import type { HoldRow } from '../../answers.ts';
import { many } from './many.ts';

export const home = {
  all: (count: number) =>
    count === 1 ? '1 group is in sync.' : `All ${count.toLocaleString('en')} groups are in sync.`,
  empty: 'No event received from the directory yet.',
  some: (good: number, all: number) => `${good.toLocaleString('en')} of ${many(all, 'group')} are in sync.`,
  syncing: (count: number) => `${many(count, 'group')} syncing.`,
  unauthorized: 'Writes are blocked: the platform refuses the credential.',
  backoff: 'Writes are delayed: calls to the platform fail.',
  paused: 'Writes are paused.',
  observing: 'This connection only observes: groupsync writes nothing.',
  since: 'since',
  attention: 'Needs attention',
  nothing: 'Nothing needs attention.',
  nothingText: 'Holds, dead letters, failed groups and people without a match appear here.',
  latest: 'Latest activity',
  allActivity: 'All activity',
  writes: 'Writes, last 24 hours',
  writesNone: 'No writes.',
  lag: 'Delay of changes, last 24 hours',
  lagNone: 'No delays.',
  lagMost: (text: string) => `${text} at most`,
  hour: (hoursAgo: number, count: number) =>
    `${hoursAgo === 0 ? 'this hour' : `${hoursAgo} h ago`}: ${many(count, 'write')}`,
  hold: (count: number, name: string) =>
    count === 0 ? `${name} would be deleted` : `${many(count, 'person', 'people')} would leave ${name}`,
  holdText: (share: string, rule: string) => `${share} of the group: ${rule}.`,
  holdNext: 'Review removals',
  holdDecided: (decision: string) => `This hold was ${decision}.`,
  rules: {
    share: 'too large a share of the group',
    count: 'too many at once',
    per_hour: 'too many in one hour',
    deleted_groups: 'too many groups deleted in one hour',
  } satisfies Readonly<Record<HoldRow['rule'], string>>,
  gateNext: 'View details',
  failingCalls: (share: string, endpoint: string) => `${share} of the calls fail: ${endpoint}`,
  failingCallsText: (counts: string, since: string, reason: string) =>
    `${counts} failed since ${since}, most recently with ${reason}. groupsync retries them.`,
  callsFail: 'Calls to the platform fail.',
  resumeNext: 'Resume writes',
  credential: 'The last check of the credential failed',
  failedGroup: (name: string) => `The platform refused the write of ${name}`,
  failedNext: 'View group',
  deadLetters: (count: number, code: string) => `${many(count, 'dead letter')}: ${code}`,
  deadLettersText: (oldest: string) => `The oldest is ${oldest} old. These changes have not been applied.`,
  deadLettersNext: 'Fix and replay',
  drift: (name: string) => `${name} was changed on the platform and left as is`,
  driftNext: 'View differences',
  unmatched: (count: number) =>
    `${many(count, 'person', 'people')} of the directory cannot be added to groups`,
  unmatchedText: (names: string, more: number) => (more > 0 ? `${names} and ${more} more` : names),
  unmatchedNext: 'View people',
} as const;
