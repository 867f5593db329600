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
import { Settings } from '../../../local/platform/controls/settings.ts';
import { World } from '../../../local/platform/state/world.ts';
import { namesOfForm } from './walk.ts';

const under = (what: string, names: readonly string[]) => names.map((name) => `${what}: ${name}`);

/** Returns the paths and bodies below `/_simulator`, from the routes and schemas of the simulator. */
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
