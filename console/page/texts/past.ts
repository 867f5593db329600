import { MOMENTS } from '../../../shared/contract/moment.ts';
import type { Timeline } from '../../answers.ts';
import { many } from './many.ts';

export const past = {
  title: 'Members over time',
  spans: {
    '24': 'Last day',
    '168': 'Last week',
    '720': 'Last 30 days',
    '': 'Last 90 days',
  } as Readonly<Record<string, string>>,
  summary: (count: number, size: number | null) =>
    `${many(count, 'change')}, ${size === null ? 'no platform group' : many(size, 'member')} now.`,
  begins: {
    span: () => '',
    known: (since: string) => ` The members have been known since ${since}.`,
    cut: (since: string) => ` Changes before ${since} are not shown.`,
  } satisfies Readonly<Record<Timeline['begins'], (since: string) => string>>,
  unknown: 'The members on the platform are not known.',
  points: 'Changes: choose one to see the members after it',
  point: (at: string, what: string, { added, removed, size }: Timeline['changes'][number]) =>
    `${at}: ${what}, ${added} joined, ${removed} left, ${size ?? 'unknown'} after it`,
  sorts: {
    joined: ['+', 'joined'],
    left: ['−', 'left'],
    both: ['±', 'joined and left'],
    hold: ['H', 'removals held'],
    external: ['!', 'changed by another client'],
    import: ['I', 'import or undo'],
    adopted: ['A', 'adopted'],
    released: ['R', 'released'],
    takeover: ['T', 'moved to another source'],
  },
  span: 'Period',
  time: 'Members at',
  hint: `A past ${MOMENTS}`,
  noTime: (text: string) => `“${text}” is not a past time.`,
  membersAt: (at: string) => `Members on the platform, ${at}`,
  found: (count: number, uncertain: number) =>
    many(count, 'person', 'people') +
    (uncertain === 0 ? '' : `. ${uncertain} joined or left within the times below, so they are uncertain.`),
  notKnown: 'The members at this time are not known.',
  knownSince: (since: string) => `They have been known since ${since}.`,
  columns: { name: 'Name', state: 'At this time' },
  states: { in: 'member', out: 'not a member', uncertain: 'uncertain' },
} as const;
