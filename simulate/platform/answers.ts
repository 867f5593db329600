import type { HeldGroup, PlatformOptions } from './facts.ts';
import type { Author, Groups, Written } from './groups.ts';
import type { createPeople } from './people.ts';
import type { PlatformFaults } from './platform-faults.ts';
import type { Request } from './request.ts';
import { activityEvent, endOfFeed, feedEnvelope, feedPage, firstAtOrAfter, shownGroup } from './rules.ts';
import type { Tokens } from './tokens.ts';

/** An HTTP answer; `group` is the group in its body. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly group?: string;
  readonly isStale?: true | undefined;
}

interface Parts {
  readonly platformFaults: PlatformFaults;
  readonly groups: Groups;
  readonly people: ReturnType<typeof createPeople>;
  readonly tokens: Tokens;
}

/** The feed shows events of the last 90 days, and at most 1,000 per page (specification, "Limits"). */
const WINDOW_MS = 90 * 86_400_000;
const MOST_EVENTS = 1_000;
/** The statuses with which a platform may refuse a cursor. */
const FORGOTTEN = [400, 403, 404, 410, 422, 500, 503] as const;
/** Kinds of events and initiators that the specification does not list. */
const NEW_KIND = { event_type: 'EXTERNAL_GROUP_RESHUFFLED', initiator: { type: 'ROBOT' } };

const json = (body: unknown): Answer => ({ status: 200, text: JSON.stringify(body) });
export const refusal = (status: number, headers?: Answer['headers']): Answer => ({
  status,
  text: `{"error":"refused with ${status}"}`,
  headers,
});

/** Performs accepted requests and creates their answers, with the traits and faults of the platform. */
export function createAnswers(options: PlatformOptions, { platformFaults, groups, people, tokens }: Parts) {
  const { company, clock, traits, runLog } = options;
  const random = options.random.fork('answers');
  const malformed = new Set<number>();
  let forgotten = { beforeMs: 0, status: 0 };

  const textOf = remembered((group) => JSON.stringify(shownGroup(group, traits)));
  const ofGroup = (group: HeldGroup): Answer => ({ status: 200, text: textOf(group), group: group.id });
  const ofWrite = (written: Written, before?: HeldGroup): Answer =>
    written.group === undefined
      ? { ...refusal(written.status), isStale: written.isStale }
      : ofGroup(withoutSome(lagging(written.group, before)));

  /** Returns the group from before the write, with the version from before or after the write. */
  const lagging = (group: HeldGroup, before: HeldGroup | undefined): HeldGroup => {
    if (before === undefined || before === group || !platformFaults.strikes('answers_lag')) return group;
    return { ...before, version: random.pick([before.version, group.version]) };
  };

  const withoutSome = (group: HeldGroup): HeldGroup => {
    const users = group.users.filter((user) => !platformFaults.isAbout('answers_lack_users', user));
    if (users.length === group.users.length) return group;
    platformFaults.fire('answers_lack_users');
    return { ...group, users };
  };

  const list = (): Answer => {
    const isDenying = platformFaults.find('list_denies') !== undefined;
    const odd = platformFaults.strikes('list_shows_odd_group') ? [oddGroup()] : [];
    const all = [...groups.held.values()];
    const old = traits.listLagMs === 0 ? all : groups.all(clock() - traits.listLagMs);
    if (old.length !== all.length || old.some((group, at) => group !== all[at]))
      runLog.fired('trait:listLagMs');
    const visible = isDenying ? old.filter((group) => !isDenied('list_denies', group)) : old;
    if (visible.length < old.length) platformFaults.fire('list_denies');
    return { status: 200, text: `[${[...cut(visible).map(textOf), ...odd].join()}]` };
  };

  /** If the fault `list_cut` takes effect, returns the list without its end or without a part in the middle. */
  const cut = (all: readonly HeldGroup[]): readonly HeldGroup[] => {
    if (all.length === 0 || !platformFaults.strikes('list_cut')) return all;
    const from = random.below(all.length);
    const to = random.chance(0.5) ? all.length : from + 1 + random.below(all.length - from);
    return [...all.slice(0, from), ...all.slice(to)];
  };

  const isListed = (role: string) =>
    !(platformFaults.isAbout('list_denies', role) && platformFaults.fire('list_denies'));

  const isDenied = (platformFault: 'list_denies' | 'get_denies', { id, spokeId }: HeldGroup) =>
    platformFaults.isAbout(platformFault, id, spokeId);

  /** Returns an unmanaged group that does not match the schema. */
  const oddGroup = () => {
    const group = { id: `${company}-odd`, spokeId: null, version: 'odd' };
    return JSON.stringify(
      random.chance(0.5) ? { ...group, name: null, users: [] } : { ...group, name: 'Odd' },
    );
  };

  const get = (id: string): Answer => {
    const now = groups.held.get(id);
    const group = traits.getLagMs === 0 ? now : groups.asOf(clock() - traits.getLagMs, id);
    if (group !== now) runLog.fired('trait:getLagMs');
    const isDeniedNow =
      group !== undefined && isDenied('get_denies', group) && platformFaults.fire('get_denies');
    return group === undefined || isDeniedNow || isDeniedOnce(id)
      ? refusal(404)
      : ofGroup(withoutSome(group));
  };

  const isDeniedOnce = (id: string) => groups.held.has(id) && platformFaults.strikes('answers_404');

  const change = (method: 'PUT' | 'PATCH', id: string, body: Request['body'], author: Author): Answer => {
    const before = groups.held.get(id);
    return isDeniedOnce(id) ? refusal(404) : ofWrite(groups.change(method, id, body, author), before);
  };

  /** Deletes a group. With the fault `deletes_ignored`, the group stays, but the answer is a success or 404. */
  const remove = (id: string, author: Author): Answer => {
    if (groups.held.has(id) && platformFaults.strikes('deletes_ignored')) {
      const status = random.pick([200, 204, 404]);
      return status === 404 ? refusal(404) : { status, text: status === 204 ? '' : '{"ok":true}' };
    }
    return found(groups.remove(id, author).group && { ok: true }, 404);
  };

  const activity = (query: URLSearchParams): Answer => {
    const { log } = groups;
    const [next, start] = [query.get('next'), query.get('startDate')];
    if (isForgotten(next)) return refusal(forgotten.status);
    const oldestMs = clock() - WINDOW_MS;
    const startMs = start === null ? oldestMs : Date.parse(start);
    const position = next === null ? firstAtOrAfter(log, startMs) : Number.parseInt(next, 10);
    if (startMs < oldestMs || !(position >= 0 && position <= log.length)) return refusal(400);
    const untilMs = clock() - traits.feedLagMs;
    const limit = Math.min(MOST_EVENTS, Number(query.get('limit') ?? MOST_EVENTS));
    const page = feedPage(log, { position, untilMs, limit });
    if (page.isEnd && page.position < log.length) runLog.fired('trait:feedLagMs');
    const events = page.entries.flatMap(({ entry, sequence }) =>
      bent(activityEvent(entry, { id: `${company}-e${sequence}`, company }, people.byUserId), sequence),
    );
    const cursor = page.position === position && next !== null ? next : `${page.position}@${clock()}`;
    const ending = page.isEnd ? endOfFeed(traits.endOfFeed, cursor) : { next: cursor };
    return json(feedEnvelope({ events, ...ending }, traits.feedEnvelope, traits.emptyFeedPage));
  };

  /** Returns whether the fault `feed_forgets` makes this cursor invalid. */
  const isForgotten = (cursor: string | null): boolean => {
    const sinceMs = platformFaults.find('feed_forgets')?.sinceMs ?? 0;
    if (sinceMs > forgotten.beforeMs) forgotten = { beforeMs: sinceMs, status: random.pick(FORGOTTEN) };
    const isOld = Number(cursor?.split('@')[1]) < forgotten.beforeMs;
    return isOld && platformFaults.fire('feed_forgets');
  };

  /**
   * Returns the event in the feed, changed by the active faults. The event may be missing, malformed, repeated, or of
   * an unknown kind. A malformed event stays malformed in later reads.
   */
  const bent = (event: ReturnType<typeof activityEvent>, sequence: number): readonly unknown[] => {
    if (platformFaults.strikes('feed_missing')) return [];
    if (malformed.has(sequence) || platformFaults.strikes('feed_malformed')) {
      malformed.add(sequence);
      const { id, subjects, ...rest } = event;
      const withoutId = { ...rest, subjects };
      const withOddSubjects = { id, ...rest, subjects: [null, { type: 'GROUP', instance: '' }, ...subjects] };
      return [[null, 'removed', withoutId, withOddSubjects][sequence % 4]];
    }
    const shown = { ...event, ...(platformFaults.strikes('feed_new_kind') ? NEW_KIND : {}) };
    return platformFaults.strikes('feed_twice') ? [shown, shown] : [shown];
  };

  const found = (body: object | undefined, status: number): Answer =>
    body === undefined ? refusal(status) : json(body);

  return {
    perform({ kind, id = '', query, body, token }: Request, author: Author): Answer {
      switch (kind) {
        case 'create':
          return ofWrite(groups.create(body, author));
        case 'put':
          return change('PUT', id, body, author);
        case 'patch':
          return change('PATCH', id, body, author);
        case 'delete':
          return remove(id, author);
        case 'get':
          return get(id);
        case 'list':
          return list();
        case 'me':
          return json({ id: 'r-admin', workEmail: 'admin@company.test', company });
        case 'employees':
          return json(
            people.page(new URLSearchParams(query), platformFaults.find('list_denies') && isListed),
          );
        case 'employee':
          return found(people.one(id), 404);
        case 'activity':
          return activity(new URLSearchParams(query));
        case 'token': {
          const granted = tokens.refresh(token);
          return granted === undefined ? { status: 400, text: '{"error":"invalid_grant"}' } : json(granted);
        }
        case 'unknown':
          return refusal(404);
      }
    },

    /** Returns a successful answer with the changes that a faulty platform or a proxy makes. */
    distort(answer: Answer): Answer {
      if (answer.status !== 200) return answer;
      if (platformFaults.strikes('answers_html'))
        return { status: 200, text: '<html><body>Signed out</body></html>' };
      if (platformFaults.strikes('answers_half'))
        return { status: 200, text: answer.text.slice(0, answer.text.length / 2) };
      if (answer.group === undefined || !platformFaults.shows('answers_other_group')) return answer;
      const others = [...groups.held.values()].filter(({ id }) => id !== answer.group);
      return others.length > 0 && platformFaults.fire('answers_other_group')
        ? ofGroup(random.pick(others))
        : answer;
    },
  };
}

/** Returns `write` with cached results. */
function remembered(write: (group: HeldGroup) => string): typeof write {
  const known = new WeakMap<HeldGroup, string>();
  return (group) => {
    const text = known.get(group) ?? write(group);
    known.set(group, text);
    return text;
  };
}
