import type * as z from 'zod';
import type { DirectoryChanges, NamedMember, ReportedChange } from '../../ports.ts';
import type { GoogleApi } from './api.ts';
import { Activity, listOf } from './schemas.ts';

/**
 * The length of the time span that each run reads again. Entries appear late, and an older entry can appear after a
 * newer entry. Most entries of the admin log appear within minutes ("Data retention and lag times").
 */
const OVERLAP_MS = 30 * 60_000;
const MAX_PAGE = '1000';

const Activities = listOf('reports#activities', 'items', Activity);

/** Parameters that name a group, in the logs `admin` and `groups_enterprise`. */
const GROUP_PARAMETERS = new Set(['GROUP_EMAIL', 'group_email', 'group_id']);
/** Parameters that name a user, in the log `admin`. */
const USER_PARAMETERS = new Set(['USER_EMAIL']);

/** Reads which groups and users the Reports API names. If nothing has changed, this function makes two calls. */
export async function changesSince(api: GoogleApi, cursor: string, nowMs: number): Promise<DirectoryChanges> {
  const sinceMs = Number(cursor);
  // The cursor is not from Google, for example because the connection has changed its directory.
  if (Number.isNaN(sinceMs)) return { groups: [], users: [], cursor: cursorAt(nowMs), isReset: true };
  const startTime = new Date(Math.min(sinceMs, nowMs) - OVERLAP_MS).toISOString();
  const ofAdministrators = await activitiesOf(api, 'admin', startTime);
  const ofGroups = await activitiesOf(api, 'groups_enterprise', startTime);
  return {
    groups: latestOf([...ofAdministrators, ...ofGroups], GROUP_PARAMETERS),
    // An event about a membership also names a user. Such an event is a change of the group.
    users: latestOf(ofAdministrators.map(withoutGroupEvents), USER_PARAMETERS),
    cursor: cursorAt(nowMs),
  };
}

export const cursorAt = (nowMs: number): string => String(nowMs);

type Entry = z.infer<typeof Activity>;

async function activitiesOf(api: GoogleApi, application: string, startTime: string) {
  const entries: Entry[] = [];
  const operation = `activities.list ${application}`;
  const path = ['admin', 'reports', 'v1', 'activity', 'users', 'all', 'applications', application];
  const pages = api.pages(operation, async (pageToken) => {
    const query = { startTime, maxResults: MAX_PAGE, pageToken };
    const { body, asOfMs } = await api({ operation, path, query, body: Activities });
    return { ...body, asOfMs };
  });
  for await (const { items } of pages) entries.push(...items);
  return entries;
}

const withoutGroupEvents = ({ id, events }: Entry): Entry => ({
  id,
  events: events.filter(({ parameters }) => !parameters.some(({ name }) => GROUP_PARAMETERS.has(name))),
});

/** Names of the events that report the deletion of a group or user, in the logs `admin` and `groups_enterprise`. */
const DELETIONS = new Set(['DELETE_GROUP', 'delete_group', 'DELETE_USER']);

/**
 * Names of the events that change only members of a group. After other events, the reader also reads the group's name.
 */
const MEMBERSHIPS = new Set([
  'ADD_GROUP_MEMBER',
  'REMOVE_GROUP_MEMBER',
  'UPDATE_GROUP_MEMBER',
  'add_member',
  'remove_member',
  'add_member_role',
  'remove_member_role',
]);

/** Parameters that name a member, in the logs `admin` and `groups_enterprise`. */
const MEMBER_PARAMETERS = new Set(['USER_EMAIL', 'member_id']);
const IS_MEMBER_AFTER: Readonly<Record<string, boolean>> = {
  ADD_GROUP_MEMBER: true,
  add_member: true,
  REMOVE_GROUP_MEMBER: false,
  remove_member: false,
};

const isOfMembers = ({ isMembership }: ReportedChange): boolean => isMembership === true;

/**
 * Returns at most two changes of each key: the latest deletion, and the latest other change with the members of all
 * other changes. Both are needed, because a new object can have the address of a deleted object.
 */
function latestOf(entries: readonly Entry[], names: ReadonlySet<string>): readonly ReportedChange[] {
  const latest = new Map<string, ReportedChange>();
  for (const change of entries.flatMap((entry) => changesIn(entry, names))) {
    const place = `${change.isDeletion} ${change.key}`;
    const before = latest.get(place);
    latest.set(place, before === undefined ? change : merged(before, change));
  }
  return [...latest.values()];
}

function merged(before: ReportedChange, change: ReportedChange): ReportedChange {
  const isMembership = isOfMembers(before) && isOfMembers(change);
  const members = [before, change].flatMap((one) => one.members ?? []);
  return { ...(before.atMs < change.atMs ? change : before), isMembership, members };
}

const changesIn = ({ id, events }: Entry, names: ReadonlySet<string>): readonly ReportedChange[] =>
  events.flatMap((event) => {
    const { name = '', parameters } = event;
    const change = {
      atMs: id.time,
      isDeletion: DELETIONS.has(name),
      isMembership: MEMBERSHIPS.has(name),
      members: membersIn(event, id.time),
    };
    return valuesOf(parameters, names).map((key) => ({ ...change, key }));
  });

type Event = Entry['events'][number];

function membersIn({ name = '', parameters }: Event, atMs: number): readonly NamedMember[] {
  const isMember = IS_MEMBER_AFTER[name];
  if (isMember === undefined) return [];
  return valuesOf(parameters, MEMBER_PARAMETERS).map((key) => ({ key, atMs, isMember }));
}

const valuesOf = (parameters: Event['parameters'], names: ReadonlySet<string>): readonly string[] =>
  parameters.flatMap(({ name, value }) => (names.has(name) && value !== undefined ? [value] : []));
