import { Agent } from 'undici';
import { onTestFinished } from 'vitest';
import { REALISTIC_SETTINGS, type Settings } from '../../../../directory-simulator/engine/settings.ts';
import type { WorldInput } from '../../../../directory-simulator/engine/world.ts';
import type { DirectoryMember, DirectoryPage } from '../../../../shared/directory/ports.ts';
import type { DirectoryWorld } from '../../../../shared/directory/vendors/exchange.ts';
import { keyCredential } from '../../../../shared/directory/vendors/google/credential.ts';
import { createGoogleDirectory } from '../../../../shared/directory/vendors/google/vendor.ts';
import { recordable } from '../../../../shared/runtime/recorder.ts';
import { ADMIN, startGoogle } from '../../../directory-simulator/fixture.ts';

export const DIFFICULT: Partial<Settings> = { ...REALISTIC_SETTINGS, failures: 0.1 };

interface Options {
  readonly settings?: Partial<Settings>;
  readonly world?: WorldInput;
  readonly seed?: string;
  readonly administrator?: string;
}

/**
 * Starts a simulated Google directory and creates its client. A wait of the client advances the clock of the simulator.
 */
export async function openGoogle({ administrator = ADMIN, ...options }: Options = {}) {
  const google = startGoogle(options);
  const { url } = await google.simulator.listen();
  const control = async (name: string, body: unknown = {}) => {
    const answer = await google.control(name, body);
    if (answer.status !== 200)
      throw new Error(`the control ${name} answers ${answer.status}: ${answer.text}`);
    return answer;
  };
  const key = (await control('service-account-key', { url })).json;
  const dispatcher = recordable(new Agent());
  onTestFinished(() => dispatcher.destroy());
  const world: DirectoryWorld = {
    dispatcher,
    clock: () => google.clock.ms + google.clock.skewMs,
    random: () => 0.5,
    sleep: async (ms) => {
      google.clock.ms += ms;
    },
    webIdentity: async (audience) => (await control('web-identity', { audience })).json.token,
  };
  const account = { credential: keyCredential(key), administrator, baseUrl: url };
  const directory = createGoogleDirectory(account, world);
  const requests = async () =>
    (await google.send('GET /_simulator/requests')).json.requests as readonly { readonly path: string }[];
  return { ...google, control, directory, account, world, url, key, requests };
}

export async function allOf<Item>(pages: AsyncIterable<DirectoryPage<Item>>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const { items } of pages) all.push(...items);
  return all;
}

export const describeMember = (member: DirectoryMember) => {
  if (member.kind === 'everyone') return 'everyone';
  if (member.kind === 'group') return `group ${member.id}`;
  const { attributes, isActive } = member.user;
  return `${attributes.get('email')} ${isActive ? 'on' : 'off'}`;
};
