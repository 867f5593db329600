import { MockAgent } from 'undici';
import { onTestFinished } from 'vitest';
import {
  accessTokenAuthorization,
  apiTokenAuthorization,
} from '../../../../shared/directory/vendors/okta/api.ts';
import { createOktaDirectory } from '../../../../shared/directory/vendors/okta/directory.ts';
import { createIds } from '../../../../shared/directory/vendors/okta/ids.ts';
import { createRateLimits } from '../../../../shared/directory/vendors/okta/rate-limits.ts';
import { createSignIn } from '../../../../shared/directory/vendors/okta/sign-in.ts';
import { NOW_MS } from '../../../directory-simulator/okta/fixture.ts';

export const ORG_URL = 'https://acme.okta.example';

interface Scripted {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** Returns the requested paths, and a directory whose calls, and sign-in if it has one, get the given answers. */
export function openScripted(
  answers: readonly Scripted[],
  credential: 'api token' | 'application' = 'api token',
) {
  const agent = new MockAgent();
  agent.disableNetConnect();
  onTestFinished(() => agent.close());
  const paths: string[] = [];
  const clock = { ms: NOW_MS };
  const waits: number[] = [];
  const world = {
    dispatcher: agent,
    clock: () => clock.ms,
    random: () => 0,
    sleep: async (ms: number) => {
      waits.push(ms);
      clock.ms += ms;
    },
    webIdentity: async () => 'none',
  };
  for (const { status: statusCode = 200, body = [], headers = {} } of answers) {
    const data = typeof body === 'string' ? body : JSON.stringify(body);
    agent
      .get(ORG_URL)
      .intercept({ path: () => true, method: () => true })
      .reply(({ path }) => {
        paths.push(path);
        return { statusCode, data, responseOptions: { headers } };
      });
  }
  const limits = createRateLimits(world);
  const signer = { sign: async () => 'assertion' };
  const application = { orgUrl: ORG_URL, clientId: 'client', signer, scopes: [], newId: createIds(world) };
  const authorization =
    credential === 'api token'
      ? apiTokenAuthorization('token')
      : accessTokenAuthorization(createSignIn(application, world, limits));
  return {
    directory: createOktaDirectory({ orgUrl: ORG_URL, authorization, limits }, world),
    paths,
    waits,
    clock,
  };
}

export const self = `<${ORG_URL}/self>; rel="self"`;
export const next = (path: string): string => `<${ORG_URL}${path}>; rel="next"`;
