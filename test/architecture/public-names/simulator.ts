import Fastify from 'fastify';
import {
  ChangeAuthor,
  type Controls,
  ExternalChange,
  RequestsQuery,
  registerControls,
  UpsertEmployee,
} from '../../../local/platform/controls/endpoints.ts';
import { Fault } from '../../../local/platform/controls/faults.ts';
import { createRequestLog } from '../../../local/platform/controls/request-log.ts';
import { Settings } from '../../../local/platform/controls/settings.ts';
import { createSimulator } from '../../../local/platform/simulator.ts';
import { World } from '../../../local/platform/state/world.ts';
import { fieldsOf, namesOfForm } from './walk.ts';

const under = (what: string, names: readonly string[]) => names.map((name) => `${what}: ${name}`);

/** Returns the paths, bodies and answers below `/_simulator`, from the routes and schemas of the simulator. */
export async function simulatorNames(): Promise<readonly string[]> {
  return [
    ...(await routes()),
    ...under('GET /_simulator/state answers', namesOfForm(World)),
    ...under('POST /_simulator/faults takes', namesOfForm(Fault)),
    ...under('POST /_simulator/settings takes', namesOfForm(Settings)),
    ...under('POST /_simulator/groups/:id takes', namesOfForm(ExternalChange)),
    ...under('DELETE /_simulator/groups/:id takes', namesOfForm(ChangeAuthor)),
    ...under('POST /_simulator/employees takes', namesOfForm(UpsertEmployee)),
    ...under('GET /_simulator/requests takes', namesOfForm(RequestsQuery)),
    ...under('GET /_simulator/requests answers', fieldsOf(loggedRequests())),
    ...(await answers()),
  ];
}

async function routes(): Promise<readonly string[]> {
  const app = Fastify({ exposeHeadRoutes: false });
  const found: string[] = [];
  app.addHook('onRoute', ({ method, url }) => void found.push(`${method} ${url}`));
  registerControls(app, { simulation: {} } as Controls);
  await app.ready();
  return found;
}

function loggedRequests() {
  const log = createRequestLog();
  const request = { method: 'GET', path: '/p', query: '', status: 200, at: '', dropped: 'after' } as const;
  log.record(request, Buffer.from('1'));
  return log.since(0, true);
}

const WORLD = { companies: [{ id: 'c', employees: [{ id: 'r' }], groups: [{ id: 'g', name: 'G' }] }] };

async function answers(): Promise<readonly string[]> {
  let ids = 0;
  const simulator = createSimulator({
    world: WORLD,
    clock: () => 0,
    newId: () => {
      ids += 1;
      return `id-${ids}`;
    },
  });
  const answer = async (method: 'GET' | 'POST' | 'DELETE', path: string, payload?: object) => {
    const url = `/_simulator/${path}`;
    const reply = await simulator.app.inject({ method, url, ...(payload && { payload }) });
    return under(`${method} ${url} answers`, fieldsOf(reply.json()));
  };
  const fault = { match: { method: 'GET', path: '/p' }, status: 500, retryAfter: 1, delayMs: 1, body: 'b' };
  const names = [
    ...(await answer('POST', 'faults', [{ ...fault, drop: 'after', times: 2 }])),
    ...(await answer('GET', 'faults')),
    ...(await answer('GET', 'settings')),
    ...(await answer('POST', 'settings', {})),
    ...(await answer('POST', 'groups/g', { name: 'H' })),
    ...(await answer('DELETE', 'groups/g')),
    ...(await answer('POST', 'employees', { id: 'r' })),
    ...(await answer('POST', 'reset')),
  ];
  await simulator.close();
  return names;
}
