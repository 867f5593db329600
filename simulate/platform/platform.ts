import type { Dispatcher } from 'undici';
import { TimeoutError } from '../../shared/platform/errors.ts';
import type { CompanyAction, PlatformAction, Traits } from '../simulation-run.ts';
import { Crash, type Worker } from '../worker.ts';
import { type Answer, createAnswers } from './answers.ts';
import type * as facts from './facts.ts';
import { createGroups } from './groups.ts';
import { createObstacles } from './obstacles.ts';
import { createOtherClient } from './other-client.ts';
import { createPeople } from './people.ts';
import { createPlatformFaults } from './platform-faults.ts';
import { type Request, requestOf, type Sent } from './request.ts';
import { createTokens } from './tokens.ts';

export type * from './facts.ts';

export type SimulatedPlatform = ReturnType<typeof createSimulatedPlatform>;

/** A platform that follows the specification exactly. */
export const PLAIN_TRAITS: Traits = {
  staleStatus: 409,
  enforceVersionOnPatch: true,
  echoSpokeId: true,
  spokeIds: 'exact',
  longestName: null,
  names: 'exact',
  uniqueNames: false,
  installer: null,
  listLagMs: 0,
  getLagMs: 0,
  endOfFeed: 'same',
  feedLagMs: 0,
  feedEnvelope: 'data',
  emptyFeedPage: 'list',
  numericVersions: false,
};

/** The longest time between the timeout of the caller and a late effect of its write. */
const LATEST_MS = 60_000;

type Outcome =
  | (Answer & { readonly isSlow?: true })
  | { readonly lost: 'timeout' | 'ECONNRESET' | 'ECONNREFUSED' };

export function createSimulatedPlatform(given: facts.PlatformOptions) {
  const options = { ...given, random: given.random.fork(`platform ${given.company}`) };
  const { company, clock, traits, runLog, sleep } = options;
  const platformFaults = createPlatformFaults(options);
  const tokens = createTokens(options, platformFaults);
  const groups = createGroups(options, platformFaults);
  const people = createPeople(options.people);
  const otherClient = createOtherClient(options, groups);
  const answers = createAnswers(options, { platformFaults, groups, people, tokens });
  const obstacleOf = createObstacles(options, platformFaults, groups, tokens);
  const lateness = options.random.fork('late');
  const calls: facts.PlatformCall[] = [];

  const outcomeOf = (request: Request, by: string, timeoutMs: number): Outcome => {
    const author = { by, token: request.token };
    if (platformFaults.strikes('refuses_connection')) return { lost: 'ECONNREFUSED' };
    const obstacle = obstacleOf(request);
    if (obstacle !== undefined) return obstacle;
    if (request.kind === 'list' && platformFaults.strikes('list_times_out')) return { lost: 'timeout' };
    if (request.isWrite && platformFaults.strikes('late_writes')) {
      const done = sleep(timeoutMs + 1 + lateness.below(LATEST_MS));
      void done.then(() => answers.perform(request, { ...author, late: true }));
      return { lost: 'timeout' };
    }
    const answer = answers.perform(request, author);
    // Half of the slow calls time out. Each other slow call ends just before the time limit of a call, but many
    // together can exceed the time limit of a function.
    if (platformFaults.strikes('slow'))
      return lateness.chance(0.5) ? { lost: 'timeout' } : { ...answer, isSlow: true };
    return platformFaults.strikes('loses_answers') ? { lost: 'ECONNRESET' } : answers.distort(answer);
  };

  const record = (request: Request, outcome: Outcome, by: string, spokeId: string | undefined) => {
    const { method, route, id, token, isWrite } = request;
    const unheard = 'lost' in outcome && outcome.lost === 'ECONNREFUSED' ? 'refused' : 'none';
    const status = 'status' in outcome ? outcome.status : unheard;
    const isStale = 'status' in outcome ? outcome.isStale : undefined;
    const bentBy = platformFaults.taken();
    for (const fault of bentBy) runLog.fired(`platformFault:${fault}`, { company, group: spokeId });
    calls.push({
      atMs: clock(),
      method,
      route,
      id,
      spokeId,
      status,
      isStale,
      platformFaults: bentBy,
      by,
      token,
    });
    if (!isWrite && bentBy.length === 0) return;
    const what = `${method} ${id ?? route}: ${status}${[...new Set(bentBy)].map((platformFault) => ` (${platformFault})`).join('')}`;
    const group = spokeId === undefined ? {} : { group: spokeId };
    runLog.log({ lane: 'platform', what, detail: `for ${by}`, ...group });
  };

  const answer = async (worker: Worker, sent: Sent, timeoutMs: number) => {
    const request = requestOf(sent);
    await worker.effect(`platform.${request.kind}`);
    const { id, method, route, body } = request;
    const spokeId = (id === undefined ? body.spokeId : groups.held.get(id)?.spokeId) ?? undefined;
    const outcome = outcomeOf(request, worker.name, timeoutMs);
    record(request, outcome, worker.name, spokeId);
    if ('status' in outcome && outcome.isSlow === undefined) return responseOf(outcome);
    if ('lost' in outcome && outcome.lost !== 'timeout')
      throw Object.assign(new Error('simulated'), { code: outcome.lost });
    await sleep('status' in outcome ? timeoutMs - 1 : timeoutMs);
    if (worker.isDead()) throw new Crash('while the worker waited for the platform');
    if ('status' in outcome) return responseOf(outcome);
    // The real client measures its time limit in real time. So the simulation creates the same error after the
    // simulated time.
    const named = { method, pathTemplate: `/platform/api${route}`, sent: 'maybe' } as const;
    throw new TimeoutError(`no whole answer within ${timeoutMs} ms`, named);
  };

  return {
    companyId: company,
    traits,
    groups: groups.held,
    asOf: groups.asOf,
    employees: people.employees,
    writes: groups.writes as readonly facts.PlatformWrite[],
    clientWrites: groups.clientWrites as readonly facts.ClientWrite[],
    calls: calls as readonly facts.PlatformCall[],
    /** Users for which the platform refused a write. */
    unacceptable: groups.unacceptable,
    /** For each refused name or external id, the time of the last refusal. */
    refusedValues: groups.refusedValues,
    tokens,
    /** Starts a platform fault that ends after `forMs`. */
    begin(action: PlatformAction) {
      platformFaults.begin(action);
      if (action.platformFault === 'token_expires') tokens.endAccess();
    },
    /** Ends all platform faults, and all repeated edits of other clients. */
    calm() {
      platformFaults.calm();
      otherClient.calm();
    },
    /** Applies a change of the HR system. */
    company(action: CompanyAction) {
      const isDone = people.apply(action);
      const { role } = action.kind === 'hire' ? action.person : action;
      if (isDone) runLog.fired(`company:${action.kind}`, { company, role });
      return isDone;
    },
    /** Performs an action of another client on a platform group; undefined if the directory group has none. */
    otherClient: otherClient.perform,
    /** Adds a group of another client that existed before the run. The feed does not show its creation. */
    seed: groups.seed,
    /** Performs the effect of a request whose caller has timed out. */
    arrive(sent: Sent, by: string) {
      const request = requestOf(sent);
      answers.perform(request, { by, token: request.token, late: true });
    },
    /**
     * Returns a dispatcher for the requests of one worker. It answers `…/platform/api/…`, and `POST …/oauth/token` of
     * any origin. `timeoutMs` is the timeout of the client.
     */
    dispatcherFor(worker: Worker, timeoutMs = 10_000) {
      const request = (sent: Sent) => answer(worker, sent, timeoutMs).catch(passOn);
      // The client calls only this method of a dispatcher.
      return { request } as unknown as Dispatcher;
    },
  };
}

/** Returns the response. The client reads a body with `for await`, so the body only needs to be iterable. */
const responseOf = ({ status, text, headers }: Answer) => ({
  statusCode: status,
  headers: { 'content-type': 'application/json', ...headers },
  body: [Buffer.from(text)],
});

/** Throws the error again. With `pathTemplate`, the client does not retry, as a crashed worker must not. */
function passOn(thrown: unknown): never {
  throw thrown instanceof Crash ? Object.assign(thrown, { pathTemplate: '' }) : thrown;
}
