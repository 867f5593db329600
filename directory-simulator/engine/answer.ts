import type { IncomingHttpHeaders } from 'node:http';
import { describeIssues } from '../../local/platform/errors.ts';
import type { Dialect, Endpoint } from './dialect.ts';
import type { Simulation } from './simulation.ts';

interface Answering {
  readonly simulation: Simulation;
  readonly dialect: Dialect;
}

interface ReceivedRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly headers: IncomingHttpHeaders;
  /** The address of the request, which only some dialects need. */
  readonly url?: string;
  readonly requestNumber: number;
}

/**
 * Returns the answer to one request, after random failures, sign-in, validation and lag.
 * @throws {DirectoryError}
 */
export function answerOf(answering: Answering, endpoint: Endpoint, request: ReceivedRequest): unknown {
  const { dialect, simulation } = answering;
  const { params, query, body, headers, url = '', requestNumber } = request;
  failAtRandom(answering, requestNumber);
  dialect.admit(endpoint, headers, url);
  return endpoint.handle({
    params: parse(dialect, endpoint.params, params),
    query: parse(dialect, endpoint.query, query),
    body: parse(dialect, endpoint.body, body),
    headers,
    url,
    view: viewFor(simulation, endpoint, requestNumber),
    requestNumber,
  });
}

function failAtRandom({ dialect, simulation }: Answering, requestNumber: number): void {
  const random = simulation.random(`failure/${requestNumber}`);
  if (!random.chance(simulation.settings().failures)) return;
  const error = dialect.errors[random.pick(dialect.randomFailures)];
  if (error !== undefined) throw error();
}

/**
 * Returns the directory as this request sees it. Each request has its own lag, so a later request can show an earlier
 * state.
 */
function viewFor(simulation: Simulation, { lag }: Endpoint, requestNumber: number) {
  const longest = lag === undefined ? 0 : simulation.settings().lagSeconds[lag];
  const lagMs = longest * 1_000 * simulation.random(`lag/${requestNumber}`).fraction();
  return simulation.directory().viewAt(simulation.clock() - lagMs);
}

function parse(dialect: Dialect, schema: Endpoint['body'], value: unknown): unknown {
  if (schema === undefined) return value;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw dialect.invalidInput(describeIssues(parsed.error, ''));
  return parsed.data;
}
