import { activity } from './texts/activity.ts';
import { adoption } from './texts/adoption.ts';
import { conn } from './texts/connection.ts';
import { deadLetters } from './texts/dead-letters.ts';
import { deliveries } from './texts/deliveries.ts';
import { find } from './texts/find.ts';
import { group, groups } from './texts/groups.ts';
import { hold, holds } from './texts/hold.ts';
import { home } from './texts/home.ts';
import { many } from './texts/many.ts';
import { past } from './texts/past.ts';
import { block, people, person } from './texts/people.ts';
import { settings } from './texts/settings.ts';

/* All texts of the page, by page in the folder texts. A translation changes only these files. */

export const T = {
  many,
  title: (page: string, connection: string) => `${page} · ${connection} · groupsync`,
  skip: 'Skip to the content',
  sections: 'Sections',
  connection: 'Connection',
  every: {
    title: 'All connections',
    open: (name: string) => `Open ${name}`,
    role: (role: string) => `Your role: ${role}`,
    attention: (count: number) =>
      count === 0
        ? 'Nothing needs attention'
        : `${many(count, 'item')} ${count === 1 ? 'needs' : 'need'} attention`,
    quiet: 'Nothing needs attention here',
    none: 'There is no connection that you may see.',
    noneText: 'A connection is created with groupsync connect.',
    failed: 'This connection cannot be read',
  },
  needsRole: (required: string, role: string) => `needs the role ${required}; your role is ${role}`,
  nav: {
    home: 'Home',
    holds: 'Holds',
    groups: 'Groups',
    people: 'People',
    activity: 'Activity',
    deliveries: 'Deliveries',
    'dead-letters': 'Dead-lettered messages',
    connection: 'Connection',
  },
  live: { on: 'Live', gone: 'The console does not respond', retry: 'The page tries again every second.' },
  goneNote: 'This page shows the state at',
  session: {
    signOut: 'Sign out',
    ended: 'Your sign-in has ended',
    signIn: 'Sign in again',
  },
  noCode: {
    title: 'The address has no valid code',
    text: 'Run groupsync console (for the local stack: groupsync console --local). Open the printed address, including the part after the #. The address expires 15 minutes after its first use.',
  },
  sessions: {
    title: 'People who are signed in',
    you: (person: string) => `${person} (you)`,
    since: 'signed in',
    expires: 'ends',
    end: 'End sessions',
    endOf: (person: string) => `End sessions: ${person}`,
    endTitle: (person: string) => `End all sessions of ${person}?`,
    endText:
      'The person must sign in again, also for other connections. The new sign-in reads the current roles.',
    ended: 'Ended.',
  },
  loading: 'Loading',
  answer: 'Answer of the platform',
  failed: 'Could not load this page',
  tryAgain: 'Retry',
  missing: (id: string) => `${id} was not found.`,
  missingNext: 'Search the list',
  notFound: { title: 'Page not found', home: 'Go to Home' },
  cancel: 'Cancel',
  close: 'Close',
  undo: 'Undo',
  reason: 'Reason',
  reasonHint: 'The audit records the reason and your name.',
  none: '–',
  ago: (text: string) => `${text} ago`,
  inTime: (text: string) => `in ${text}`,
  now: 'just now',
  states: {
    in_sync: 'In sync',
    dirty: 'Syncing',
    held: 'Held',
    failed: 'Failed',
    paused: 'Paused',
    deleted: 'Deleted',
    unnamed: 'No name yet',
    name_clash: 'Name in use',
    unrestated: 'Not restated since the restore',
    unknown: 'Membership events only',
    excluded: 'Excluded',
    managed: 'Managed',
    adoptable: 'Adoptable',
    unmanaged: 'Unmanaged',
  } as Readonly<Record<string, string>>,
  pending: {
    unknown: 'no match on the platform',
    ambiguous: 'several employees match',
    inactive: 'not active on the platform',
    refused: 'refused by the platform',
    blocked: 'blocked by an operator',
  } as Readonly<Record<string, string>>,
  find,
  home,
  hold,
  holds,
  groups,
  group,
  past,
  adoption,
  block,
  people,
  person,
  activity,
  deadLetters,
  deliveries,
  conn,
  settings,
} as const;
