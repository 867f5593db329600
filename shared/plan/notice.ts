import type { ConnectionName } from '../domain/ids.ts';
import {
  type Episode,
  type Finding,
  type Notice,
  STAGE_SUBJECTS,
  SUBJECTS,
  type Subject,
} from '../domain/notice.ts';

/*
 * A subject, such as open holds, can have findings. An episode is the time from the first finding until the subject has
 * no finding. The first line that matches an episode decides about its notice:
 *
 * | the episode                                       | the notice reports       |
 * |---------------------------------------------------|--------------------------|
 * | ended, and a notice may have reported it          | the end                  |
 * | ended, and no notice reported it                  | (no notice)              |
 * | goes on, and no notice was sent                   | the beginning            |
 * | has a latest notice with an unknown outcome       | the current state        |
 * | has a higher count than in the latest notice      | the higher count         |
 * | began again before a notice of its end            | (no notice; it goes on)  |
 *
 * groupsync tries to send at most one notice per subject in 15 minutes. Failed attempts count too. If a problem of the
 * stage reaches further connections, it waits for a day, because the connections usually have one cause.
 */
const MIN_INTERVAL_MS = 15 * 60_000;
const GROWTH_INTERVAL_MS = 24 * 3_600_000;
export const MOST_NAMES = 5;

/** The warning about a SCIM token begins this long before its expiry, so that an operator can install a new token. */
export const EXPIRES_SOON_MS = 14 * 86_400_000;

const isOfStage = (subject: Subject): boolean => STAGE_SUBJECTS.some((one) => one === subject);

/** Returns the findings that are reported for the connection itself. */
export const ownFindings = (found: readonly Finding[]): readonly Finding[] =>
  found.filter(({ subject }) => !isOfStage(subject));

/** Returns the findings of the stage. Each counts its connections, and names those with the oldest problems first. */
export function stageFindings(all: ReadonlyMap<ConnectionName, readonly Finding[]>, nowMs: number) {
  return STAGE_SUBJECTS.map((subject) => {
    const affected = [...all].flatMap(([connection, found]) => {
      const finding = found.find((one) => one.subject === subject && one.count > 0);
      return finding === undefined ? [] : [{ connection, ...finding }];
    });
    const [worst, ...others] = affected.toSorted((a, b) => (a.sinceMs ?? nowMs) - (b.sinceMs ?? nowMs));
    if (worst === undefined) return { subject, count: 0 };
    const { connection, contact, sinceMs } = worst;
    const names = [connection, ...others.map((one) => one.connection)].slice(0, MOST_NAMES);
    const person = contact === undefined ? {} : { contact };
    return { subject, count: affected.length, sinceMs, names, ...person };
  });
}

/** Returns the episodes after a check of the subjects in `checked`. Other episodes stay unchanged. */
export function observe(
  known: readonly Episode[],
  found: readonly Finding[],
  { checked, nowMs }: { readonly checked: readonly Subject[]; readonly nowMs: number },
): readonly Episode[] {
  return SUBJECTS.flatMap((subject) => {
    const episode = known.find((one) => one.subject === subject);
    const finding = found.find((one) => one.subject === subject && one.count > 0);
    if (!checked.includes(subject)) return episode ?? [];
    if (finding !== undefined) return goingOn(episode, finding, nowMs);
    if (episode === undefined || (!isEndOwed(episode) && !isRecent(episode, nowMs))) return [];
    return { ...episode, endedMs: episode.endedMs ?? nowMs };
  });
}

function goingOn(known: Episode | undefined, finding: Finding, nowMs: number): Episode {
  const sinceMs = finding.sinceMs ?? nowMs;
  const { triedMs, notifiedCount, over, isUnrecorded, sinceMs: beganMs = sinceMs } = known ?? {};
  const tried = triedMs === undefined ? {} : { triedMs };
  if (over) return { ...finding, ...tried, sinceMs };
  const attempt = { ...tried, ...(isUnrecorded && { isUnrecorded }) };
  if (notifiedCount === undefined) return { ...finding, ...attempt, sinceMs: beganMs };
  return { ...finding, ...attempt, notifiedCount, sinceMs: Math.min(beganMs, sinceMs) };
}

/** Whether a notice of the end must be sent: a notice may have reported the beginning, but none the end. */
const isEndOwed = ({ over, notifiedCount, isUnrecorded }: Episode): boolean =>
  over !== true && (notifiedCount !== undefined || isUnrecorded === true);

const isRecent = ({ triedMs }: Episode, nowMs: number): boolean =>
  triedMs !== undefined && nowMs - triedMs < MIN_INTERVAL_MS;

export function isNoticeDue(episode: Episode, nowMs: number): boolean {
  const { subject, notifiedCount, count, endedMs, isUnrecorded, triedMs = 0 } = episode;
  if (isRecent(episode, nowMs)) return false;
  const isGrowth = endedMs === undefined && notifiedCount !== undefined && isUnrecorded !== true;
  if (isGrowth && isOfStage(subject) && nowMs - triedMs < GROWTH_INTERVAL_MS) return false;
  return endedMs === undefined ? isUnrecorded === true || count > (notifiedCount ?? 0) : isEndOwed(episode);
}

/**
 * Returns the episode as stored before an attempt. If the worker dies before it stores the outcome, `isUnrecorded`
 * stays, because the notice may or may not have been sent.
 */
export const beforeNotice = (episode: Episode, nowMs: number): Episode => ({
  ...episode,
  triedMs: nowMs,
  isUnrecorded: true,
});

export function afterNotice(attempted: Episode, { isSent }: { readonly isSent: boolean }): Episode {
  const { isUnrecorded: _, ...episode } = attempted;
  if (!isSent) return episode;
  return episode.endedMs === undefined
    ? { ...episode, notifiedCount: episode.count }
    : { ...episode, over: true };
}

const SUBJECT_TEXTS: Readonly<Record<Subject, readonly [what: string, command: string, page: string]>> = {
  hold: ['groups held until an operator decides: {n}', 'holds', 'holds'],
  gate: ['writes to the platform are blocked', 'doctor', 'connection'],
  source: ['a source or the reader of the directory is late or has stopped', 'doctor --faults', 'connection'],
  access: ['the platform does not remove members, so they keep access', 'groups --state dirty', 'groups'],
  waiting: ['changes have waited for over an hour', 'groups --state dirty', 'groups?state=dirty'],
  name_clash: [
    'groups that wait because the platform has an unmanaged group with their name: {n}',
    'adopt --all',
    'groups?state=name_clash',
  ],
  dead_letters: ['dead-lettered messages that wait for an operator: {n}', 'dlq list', 'dead-letters'],
  drift: [
    'differences on the platform, within the hour, that were only reported: {n}',
    'log --action drift',
    'activity?text=outcome%3Areport',
  ],
  missing: [
    'linked groups that the platform does not list, and that groupsync does not create again: {n}',
    'log --action drift',
    'activity',
  ],
  feed: ["the platform's activity feed has not been read for over a day", 'reconcile', 'connection'],
  credential: [
    'the person who installed the app leaves within 30 days, or the credential was not checked for two days',
    'doctor',
    'connection',
  ],
  reader_short: [
    'groups of the directory that cannot be read completely: {n}',
    'directory groups',
    'connection',
  ],
  reader_flips: ['groups of the directory with two alternating lists: {n}', 'status', 'connection'],
  token: ['SCIM tokens that end within 14 days: {n}', 'scim token list', 'connection'],
};

interface NoticeStage {
  readonly prefix: string;
  /** The address of the deployed console; undefined if the stage has none. */
  readonly consoleUrl?: string | undefined;
  /** The connection whose console page a notice of the whole stage links to. */
  readonly pagesOf?: ConnectionName | undefined;
}

const GROUP_PAGES: Partial<Readonly<Record<Subject, string>>> = {
  hold: 'holds',
  name_clash: 'groups',
};

/**
 * Returns the text of a notice: the state, the count, the start time, the command, and links to the console. Each named
 * group of a hold has its own link. If more groups are affected, the text also links to the list. A notice
 * of the end has only the state and the two times.
 * @param of the connection that the notice is about; undefined for the whole stage
 */
export function noticeOf(
  { subject, count, sinceMs, names = [], groups = [], contact, endedMs }: Episode,
  stage: NoticeStage,
  of?: ConnectionName,
): Notice {
  const { prefix } = stage;
  const isMerged = isOfStage(subject) && of === undefined;
  const connection = isMerged && endedMs === undefined ? (names[0] as ConnectionName) : of;
  const [what, command] = SUBJECT_TEXTS[subject];
  const where = connection === undefined ? prefix : `${prefix} ${connection}`;
  if (endedMs !== undefined) {
    return [`${where}: over: ${what.replace(': {n}', '')}`, `From ${utc(sinceMs)} to ${utc(endedMs)}.`];
  }
  const links = linksOf({ subject, count, names, groups }, stage, connection);
  const isNamed = links.length > 1 || (isMerged && count === 1);
  const option = connection === undefined ? '' : ` --connection ${connection}`;
  const line = `npx groupsync --prefix ${prefix}${option} ${command}`;
  const person = contact === undefined ? [] : [`${contact}.`];
  return [
    `${where}: ${what.replace('{n}', String(count))}${isMerged ? othersText(count) : ''}`,
    ...(isNamed ? [] : namesText(names, count)),
    `Since ${utc(sinceMs)}.`,
    ...person,
    line,
    ...links,
  ];
}

function namesText(names: readonly string[], count: number): readonly string[] {
  if (names.length === 0) return [];
  const more = count > MOST_NAMES ? [`and ${count - MOST_NAMES} more`] : [];
  return [[...names.slice(0, MOST_NAMES).map(shown), ...more].join(', ')];
}

const othersText = (connections: number): string => (connections > 1 ? `; connections: ${connections}` : '');

function linksOf(
  { subject, count, names = [], groups = [] }: Pick<Episode, 'subject' | 'count' | 'names' | 'groups'>,
  { consoleUrl, pagesOf }: NoticeStage,
  connection = pagesOf,
): readonly string[] {
  if (consoleUrl === undefined) return [];
  const [, , page] = SUBJECT_TEXTS[subject];
  const linkTo = (path: string) =>
    new URL(connection === undefined ? '/' : `/c/${connection}/${path}`, consoleUrl).href;
  const groupPage = GROUP_PAGES[subject];
  const items =
    groupPage === undefined ? [] : groups.map((group) => linkTo(`${groupPage}/${encodeURIComponent(group)}`));
  if (count === 1 && items.length === 1) return items;
  const named = items.map((link, at) => `${shown(names[at] ?? '')}: ${link}`);
  return count > items.length ? [...named, linkTo(page)] : named;
}

const utc = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Replaces line breaks and control characters in a name from the directory, and shortens a long name. */
const shown = (name: string): string =>
  `"${name.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?').slice(0, 80)}"`;
