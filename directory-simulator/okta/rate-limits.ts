import type { AnswerHeaders, Endpoint } from '../engine/dialect.ts';
import type { Simulation } from '../engine/simulation.ts';
import { tooManyRequests } from './errors.ts';

const MINUTE_MS = 60_000;

/**
 * Maximum number of requests per minute, by operation. It is half of the limit of the org ("Rate limits", Enterprise
 * orgs), because a client can use half by default.
 */
const LIMITS: Readonly<Record<string, number>> = {
  listGroups: 250,
  getGroup: 500,
  listGroupUsers: 500,
  listUsers: 300,
  getUser: 300,
  listLogEvents: 60,
};
const OTHER_LIMIT = 600;

export interface RateLimits {
  count(endpoint: Endpoint): void;
  headers(endpoint: Endpoint, status: number): AnswerHeaders;
}

/** Creates the rate limits. Each operation has a limit of its own. A new window begins with each minute. */
export function createRateLimits(simulation: Simulation): RateLimits {
  const counts = new Map<string, { readonly minute: number; readonly requests: number }>();
  const minuteNow = () => Math.floor(simulation.clock() / MINUTE_MS);
  const usedOf = ({ operation }: Endpoint) => {
    const counted = counts.get(operation);
    return counted?.minute === minuteNow() ? counted.requests : 0;
  };
  /**
   * Returns the limit that the headers show. The setting `queriesPerMinute` can lower this limit. If the setting is
   * null, requests above the limit are accepted.
   */
  const limitOf = ({ operation }: Endpoint) =>
    Math.min(
      LIMITS[operation] ?? OTHER_LIMIT,
      simulation.settings().queriesPerMinute ?? Number.POSITIVE_INFINITY,
    );
  return {
    count(endpoint) {
      const requests = usedOf(endpoint) + 1;
      counts.set(endpoint.operation, { minute: minuteNow(), requests });
      const isLimited = simulation.settings().queriesPerMinute !== null;
      if (isLimited && requests > limitOf(endpoint)) throw tooManyRequests();
    },
    headers(endpoint, status) {
      const limit = limitOf(endpoint);
      const remaining = status === 429 ? 0 : Math.max(0, limit - usedOf(endpoint));
      return {
        'x-rate-limit-limit': String(limit),
        'x-rate-limit-remaining': String(remaining),
        'x-rate-limit-reset': String(((minuteNow() + 1) * MINUTE_MS) / 1_000),
      };
    },
  };
}
