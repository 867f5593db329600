import type { Endpoint } from '../engine/dialect.ts';
import { listPage, PageTokenError } from '../engine/page.ts';
import { addressOf, contextOf, type GraphCall, graphMethod } from './api.ts';
import { type Application, rolesOf } from './application.ts';
import { type DeltaErrorName, syncReset, unsupportedQuery } from './errors.ts';
import { idsOf } from './filter.ts';
import { type Query, queryOf, selectedSuffix } from './query.ts';
import { GROUP_RIGHTS, READ_HIDDEN_MEMBERS, USER_RIGHTS } from './rights.ts';
import { createRounds, type Rounds } from './rounds.ts';
import { decodeToken, encodeToken, type Round, type StateToken, type Tracked } from './state-tokens.ts';

/** Maximum number of objects on one page. Microsoft documents no number. */
const MAX_PER_PAGE = 100;

/** The validity of state tokens, and the entries of recent rounds. */
export interface DeltaState {
  generation: number;
  /** The error for a token that became invalid. */
  expiredWith: DeltaErrorName;
  entriesOf: Rounds;
}

export const createDeltaState = (): DeltaState => ({
  generation: 1,
  expiredWith: 'syncStateNotFound',
  entriesOf: createRounds(),
});

const RIGHTS = { users: USER_RIGHTS, groups: GROUP_RIGHTS };

/**
 * Returns the methods user: delta and group: delta. Each method also has the full name that Microsoft's clients use.
 */
export const deltaMethods = (application: Application, state: DeltaState): readonly Endpoint[] =>
  (['users', 'groups'] as const).flatMap((resource) =>
    ['delta', 'microsoft.graph.delta', 'delta()', 'microsoft.graph.delta()'].map((name) =>
      graphMethod(application.simulation, {
        path: `/v1.0/${resource}/${name}`,
        operation: `${resource === 'users' ? 'user' : 'group'}.delta`,
        rights: RIGHTS[resource],
        handle: (call) => deltaAnswer({ application, state, resource }, call),
      }),
    ),
  );

interface Context {
  readonly application: Application;
  readonly state: DeltaState;
  readonly resource: Tracked;
}

function deltaAnswer(context: Context, call: GraphCall) {
  const { application, state } = context;
  const { simulation } = application;
  const query = queryOf(call.query, ['$select', '$filter', '$skiptoken', '$deltatoken'], call.headers);
  if (query.deltaToken === 'latest') return latestAnswer(context, call, query);
  const { round, page } = requestedRound(context, call, query);
  const entries = state.entriesOf({
    simulation,
    round,
    isMinimal: /\breturn=minimal\b/i.test(String(call.headers['prefer'] ?? '')),
    showsHidden: rolesOf(application, call.headers)?.includes(READ_HIDDEN_MEMBERS) ?? false,
  });
  try {
    const listed = listPage(simulation, {
      key: JSON.stringify(round),
      items: entries,
      idOf: ({ key }) => key,
      pageToken: page,
      most: MAX_PER_PAGE,
    });
    const value = listed.items.map(({ body }) => body);
    const next = listed.nextPageToken;
    return answer(context, call, { round, page: next, value });
  } catch (error) {
    if (error instanceof PageTokenError) throw reset(context, call, 'syncStateNotFound');
    throw error;
  }
}

/** Returns the answer to `$deltatoken=latest`: no objects, and a link to all later changes. */
function latestAnswer(context: Context, call: GraphCall, query: Query) {
  const round = newRound(context, call, { query, fromMs: null });
  return answer(context, call, { round, page: undefined, value: [] });
}

interface Page {
  readonly round: Round;
  /** The next page of the round; undefined after the last page. */
  readonly page: string | undefined;
  readonly value: readonly unknown[];
}

function answer(context: Context, call: GraphCall, { round, page, value }: Page) {
  const { application, state, resource } = context;
  const token = { round, issuedAtMs: application.simulation.clock(), generation: state.generation };
  const path = `/v1.0/${resource}/delta`;
  const link =
    page === undefined
      ? { '@odata.deltaLink': linkOf(call, path, { ...token, kind: 'delta' }) }
      : { '@odata.nextLink': linkOf(call, path, { ...token, kind: 'skip', page }) };
  const suffix = selectedSuffix(round.select ?? undefined);
  return { '@odata.context': contextOf(`${resource}${suffix}`), ...link, value };
}

const linkOf = (call: GraphCall, path: string, token: StateToken) =>
  addressOf(call, `${path}?$${token.kind}token=${encodeToken(token)}`);

/**
 * Returns the round of a request. A request without a token, or with an empty token, begins with the whole directory.
 * @throws {DirectoryError} 410 for a token that is no longer valid
 */
function requestedRound(context: Context, call: GraphCall, query: Query) {
  const { skipToken, deltaToken, select, filter } = query;
  if (skipToken !== undefined) {
    if (select !== undefined || filter !== undefined || deltaToken !== undefined) {
      throw unsupportedQuery('Delta queries with both $select and $skiptoken are not supported.');
    }
    const token = validToken(context, call, { text: skipToken, kind: 'skip' });
    return { round: token.round, page: token.page };
  }
  if (deltaToken === undefined || deltaToken === '') {
    return { round: newRound(context, call, { query, fromMs: null }), page: undefined };
  }
  const { round } = validToken(context, call, { text: deltaToken, kind: 'delta' });
  const next = newRound(context, call, { query, fromMs: round.toMs });
  return {
    round: { ...next, select: next.select ?? round.select, ids: next.ids ?? round.ids },
    page: undefined,
  };
}

/** The maximum time span of earlier changes that a round can repeat. */
const REPEATED_MS = 600_000;

interface Beginning {
  readonly query: Query;
  readonly fromMs: number | null;
}

/**
 * Returns a round that ends before the time of the request, because changes appear late. Changes of the current
 * millisecond belong to a later round, because more changes can follow in the same millisecond. A round can repeat
 * changes of the previous round.
 */
function newRound({ application, resource }: Context, call: GraphCall, { query, fromMs }: Beginning): Round {
  const { simulation } = application;
  const { lagSeconds, repeatedChanges } = simulation.settings();
  const random = simulation.random(`delta/${call.requestNumber}`);
  const latestMs = simulation.clock() - 1 - Math.floor(lagSeconds.delta * 1_000 * random.fraction());
  const toMs = fromMs === null ? latestMs : Math.max(fromMs, latestMs);
  const repeatedMs = random.chance(repeatedChanges) ? random.below(REPEATED_MS) : 0;
  return {
    resource,
    fromMs: fromMs === null ? null : fromMs - repeatedMs,
    toMs,
    select: query.select === undefined ? null : [...query.select],
    ids: query.filter === undefined ? null : [...idsOf(query.filter)],
  };
}

interface Given {
  readonly text: string;
  readonly kind: StateToken['kind'];
}

function validToken(context: Context, call: GraphCall, { text, kind }: Given): StateToken {
  const { application, state, resource } = context;
  const token = decodeToken(text);
  if (token === undefined || token.kind !== kind || token.round.resource !== resource) {
    throw unsupportedQuery(`Badly formed token: $${kind}token.`);
  }
  if (token.generation !== state.generation) throw reset(context, call, state.expiredWith);
  const { settings, clock } = application.simulation;
  const ageSeconds = (clock() - token.issuedAtMs) / 1_000;
  if (ageSeconds > settings().deltaTokenLifetimeSeconds) throw reset(context, call, 'syncStateNotFound');
  return token;
}

/** Returns the error that contains the address for a new first request ("Synchronization reset"). */
const reset = ({ resource }: Context, call: GraphCall, name: DeltaErrorName) =>
  syncReset(name, addressOf(call, `/v1.0/${resource}/delta?$deltatoken=`));
