import type { HeldGroup, PlatformOptions } from './facts.ts';
import type { Author, Groups, Written } from './groups.ts';
import type { createPeople } from './people.ts';
import type { Request } from './request.ts';
import { activityEvent, endOfFeed, feedPage, firstAtOrAfter } from './rules.ts';
import type { Tempers } from './tempers.ts';
import type { Tokens } from './tokens.ts';

/** An HTTP answer; `group`: whose body it is. */
export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly group?: string;
}

interface Parts {
  readonly tempers: Tempers;
  readonly groups: Groups;
  readonly people: ReturnType<typeof createPeople>;
  readonly tokens: Tokens;
}

/** Specification, "Limits". */
const WINDOW_MS = 90 * 86_400_000;
const MOST_EVENTS = 1_000;
const YEAR_MS = 365 * 86_400_000;

const json = (body: unknown): Answer => ({ status: 200, text: JSON.stringify(body) });
export const refusal = (status: number, headers?: Answer['headers']): Answer => ({
  status,
  text: `{"error":"refused with ${status}"}`,
  headers,
});

/** What the platform does and answers where nothing stops a request: its truth, seen through its traits and tempers. */
export function createAnswers(options: PlatformOptions, { tempers, groups, people, tokens }: Parts) {
  const { company, clock, traits, chronicle } = options;
  const random = options.random.fork('answers');

  const textOf = remembered(({ id, name, spokeId, users, version }) =>
    JSON.stringify({ id, name, spokeId: traits.echoSpokeId ? spokeId : null, users, version }),
  );
  const ofGroup = (group: HeldGroup): Answer => ({ status: 200, text: textOf(group), group: group.id });
  const ofWrite = ({ status, group }: Written): Answer =>
    group === undefined ? refusal(status) : ofGroup(group);
  const isOld = ({ createdAtMs }: HeldGroup, lagMs: number) => lagMs === 0 || clock() - createdAtMs >= lagMs;

  const list = (): Answer => {
    const isDenying = tempers.find('list_denies') !== undefined;
    const odd = tempers.strikes('list_shows_odd_group') ? [oddGroup()] : [];
    const all = [...groups.held.values()];
    const old = all.filter((group) => isOld(group, traits.listLagMs));
    if (old.length < all.length) chronicle.fired('trait:listLagMs');
    const visible = isDenying ? old.filter((group) => !isDenied('list_denies', group)) : old;
    if (visible.length < old.length) tempers.fire('list_denies');
    return { status: 200, text: `[${[...visible.map(textOf), ...odd].join()}]` };
  };

  const isListed = (role: string) => !(tempers.isAbout('list_denies', role) && tempers.fire('list_denies'));

  const isDenied = (temper: 'list_denies' | 'get_denies', { id, spokeId }: HeldGroup) =>
    tempers.isAbout(temper, id, spokeId);

  /** A stranger's group that does not fit the schema. */
  const oddGroup = () => {
    const group = { id: `${company}-odd`, spokeId: null, version: 'odd' };
    return JSON.stringify(
      random.chance(0.5) ? { ...group, name: null, users: [] } : { ...group, name: 'Odd' },
    );
  };

  const get = (id: string): Answer => {
    const group = groups.held.get(id);
    if (group === undefined) return refusal(404);
    if (isDenied('get_denies', group) && tempers.fire('get_denies')) return refusal(404);
    if (isOld(group, traits.getLagMs)) return ofGroup(group);
    chronicle.fired('trait:getLagMs');
    return refusal(404);
  };

  const activity = (query: URLSearchParams): Answer => {
    const { log } = groups;
    const [next, start] = [query.get('next'), query.get('startDate')];
    const oldestMs = clock() - WINDOW_MS;
    const startMs = start === null ? oldestMs : Date.parse(start);
    const position = next === null ? firstAtOrAfter(log, startMs) : Number(next);
    if (startMs < oldestMs || !(position >= 0 && position <= log.length)) return refusal(400);
    const untilMs = clock() - traits.feedLagMs;
    const limit = Math.min(MOST_EVENTS, Number(query.get('limit') ?? MOST_EVENTS));
    const page = feedPage(log, { position, untilMs, limit });
    if (page.isEnd && page.position < log.length) chronicle.fired('trait:feedLagMs');
    const events = page.entries.flatMap(({ entry, sequence }) =>
      bent(activityEvent(entry, { id: `${company}-e${sequence}`, company }, people.byUserId)),
    );
    const cursor = String(page.position);
    const ending = page.isEnd ? endOfFeed(traits.endOfFeed, cursor) : { next: cursor };
    return json({ data: { events, ...ending }, error: null });
  };

  /** One event as this feed tells it: not at all, twice, of an unknown kind, or dated next year. */
  const bent = (event: object): readonly object[] => {
    if (tempers.strikes('feed_missing')) return [];
    const odd = { event_type: 'EXTERNAL_GROUP_RESHUFFLED', initiator: { type: 'ROBOT' } };
    const told = {
      ...event,
      ...(tempers.strikes('feed_odd_kind') ? odd : {}),
      ...(tempers.strikes('feed_future') ? { timestamp: new Date(clock() + YEAR_MS).toISOString() } : {}),
    };
    return tempers.strikes('feed_twice') ? [told, told] : [told];
  };

  const found = (body: object | undefined, status: number): Answer =>
    body === undefined ? refusal(status) : json(body);

  return {
    /** Does the work and says what came of it. */
    perform({ kind, id = '', query, body, token }: Request, author: Author): Answer {
      switch (kind) {
        case 'create':
          return ofWrite(groups.create(body, author));
        case 'put':
          return ofWrite(groups.change('PUT', id, body, author));
        case 'patch':
          return ofWrite(groups.change('PATCH', id, body, author));
        case 'delete':
          return found(groups.remove(id, author).group && { ok: true }, 404);
        case 'get':
          return get(id);
        case 'list':
          return list();
        case 'me':
          return json({ id: 'r-admin', workEmail: 'admin@company.test', company });
        case 'employees':
          return json(people.page(new URLSearchParams(query), tempers.find('list_denies') && isListed));
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

    /** The answer of work that is done, as some platforms and proxies give it. */
    distort(answer: Answer): Answer {
      if (answer.status !== 200) return answer;
      if (tempers.strikes('answers_html'))
        return { status: 200, text: '<html><body>Signed out</body></html>' };
      if (tempers.strikes('answers_half'))
        return { status: 200, text: answer.text.slice(0, answer.text.length / 2) };
      if (answer.group === undefined || !tempers.shows('answers_other_group')) return answer;
      const others = [...groups.held.values()].filter(({ id }) => id !== answer.group);
      return others.length > 0 && tempers.fire('answers_other_group') ? ofGroup(random.pick(others)) : answer;
    },
  };
}

/** A group is another object whenever it changes, so its text is written once. */
function remembered(write: (group: HeldGroup) => string): typeof write {
  const known = new WeakMap<HeldGroup, string>();
  return (group) => {
    const text = known.get(group) ?? write(group);
    known.set(group, text);
    return text;
  };
}
