import type { PlatformFault } from '../simulation-run.ts';
import { type Answer, refusal } from './answers.ts';
import type { PlatformOptions } from './facts.ts';
import type { Groups } from './groups.ts';
import type { PlatformFaults } from './platform-faults.ts';
import type { Request } from './request.ts';
import type { Tokens } from './tokens.ts';

/** Faults that refuse only writes. A fault with `about` refuses only the writes of the groups in `about`. */
const WRITES: readonly (readonly [PlatformFault, number, Answer['headers']])[] = [
  ['writes_503', 503, {}],
  ['writes_403', 403, {}],
  ['writes_302', 302, { location: 'https://maintenance.test/' }],
];

/**
 * Returns a function that decides whether a fault stops a request. The function tests the faults in the order in which
 * a request reaches the parts of the platform: proxy, limits, credential, routing, application.
 */
export function createObstacles(
  options: PlatformOptions,
  platformFaults: PlatformFaults,
  groups: Groups,
  tokens: Tokens,
) {
  const random = options.random.fork('obstacles');
  const parameterOf = (platformFault: PlatformFault) => platformFaults.find(platformFault)?.action.about?.[0];

  const refusedWrite = ({ id, body }: Request): Answer | undefined => {
    const spokeId = id === undefined ? body.spokeId : groups.held.get(id)?.spokeId;
    for (const [platformFault, status, headers] of WRITES) {
      const isNamed = parameterOf(platformFault) !== undefined;
      const isHit = isNamed
        ? platformFaults.isAbout(platformFault, id, spokeId)
        : platformFaults.shows(platformFault);
      if (isHit && platformFaults.fire(platformFault)) return refusal(status, headers);
    }
    return undefined;
  };

  return (request: Request): Answer | undefined => {
    const { kind } = request;
    if (platformFaults.strikes('everything_503')) return refusal(503);
    if (platformFaults.strikes('throttles')) {
      const text = retryAfterText(parameterOf('throttles') ?? '30', options.clock());
      return refusal(random.pick([429, 503]), { 'retry-after': text });
    }
    if (kind === 'token') return undefined;
    if (!tokens.accepts(request.token)) return refusal(401);
    if (kind !== 'me' && platformFaults.strikes('wrong_route')) {
      return kind === 'list' ? { status: 200, text: '[]' } : refusal(404);
    }
    return request.isWrite ? refusedWrite(request) : undefined;
  };
}

/** Returns the text of the header Retry-After. */
const retryAfterText = (wanted: string, nowMs: number): string =>
  wanted === 'date' ? new Date(nowMs + 60_000).toUTCString() : wanted;
