import { Agent } from 'undici';
import { onTestFinished } from 'vitest';
import type { DirectoryWorld } from '../../../shared/directory/vendors/exchange.ts';
import { recordable } from '../../../shared/runtime/recorder.ts';
import type { startSimulated } from '../../directory-simulator/simulated.ts';

interface Requested {
  readonly path: string;
  readonly query: string;
  readonly status: number;
  readonly at: string;
}

/** Serves a simulated directory to a client. A wait of the client advances the clock of the simulator. */
export async function serve(simulated: ReturnType<typeof startSimulated>) {
  const { clock, simulator, send } = simulated;
  const { url } = await simulator.listen();
  const control = async (name: string, body: unknown = {}) => {
    const answer = await simulated.control(name, body);
    if (answer.status !== 200)
      throw new Error(`the control ${name} answers ${answer.status}: ${answer.text}`);
    return answer.json;
  };
  const dispatcher = recordable(new Agent());
  onTestFinished(() => dispatcher.destroy());
  const waits: number[] = [];
  const world: DirectoryWorld = {
    dispatcher,
    clock: () => clock.ms + clock.skewMs,
    random: () => 0.5,
    sleep: async (ms) => {
      waits.push(ms);
      clock.ms += ms;
    },
    webIdentity: async (audience) => (await control('web-identity', { audience })).token,
  };
  const requests = async () => (await send('GET /_simulator/requests')).json.requests as readonly Requested[];
  return { url, control, world, waits, requests };
}
