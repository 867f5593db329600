import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { Fault } from '../../local/platform/controls/faults.ts';
import { refuseOutsiders } from '../../local/platform/controls/loopback.ts';
import { badRequest, describeIssues, notFound } from '../../local/platform/errors.ts';
import { booleanParameter, integerParameter } from '../../local/platform/query.ts';
import { applyChange } from './apply-change.ts';
import { Change } from './changes.ts';
import type { Dialect } from './dialect.ts';
import type { View } from './directory.ts';
import { CONTROLS_PREFIX, type Served } from './server.ts';
import { changedSettings, PartialSettings, type Settings } from './settings.ts';
import type { Simulation } from './simulation.ts';

/** A fault. Instead of `status` and `body`, it can have the name of one of the dialect's errors. */
const NamedFault = Fault.extend({ error: z.string().optional() });

/** The body of `POST /_simulator/counts`: the number of members that the directory shows for a group. */
const WrongCount = z.strictObject({
  group: z.string().min(1),
  /** The shown count. null means that the directory shows no count. `right` means the correct count. */
  count: z.union([z.int().min(0), z.null(), z.literal('right')]),
});

/** The query of `GET /_simulator/requests`. */
const RequestsQuery = z.object({
  since: integerParameter(0).default(0),
  bodies: booleanParameter.default(false),
});

interface Controls extends Served {
  readonly changeSettings: (settings: Settings) => void;
  readonly reset: () => void;
}

/** Registers the test controls. They need no sign-in, answer only this machine, and are not part of a vendor's API. */
export function registerControls(app: FastifyInstance, controls: Controls): void {
  const { simulation, faults, log, dialect } = controls;
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request) => refuseOutsiders(request));
      scope.get('/state', () => stateOf(simulation));
      scope.post('/reset', () => {
        controls.reset();
        return { ok: true };
      });
      scope.get('/requests', (request) => {
        const { since, bodies } = parse(RequestsQuery, request.query, 'query');
        return log.since(since, bodies);
      });
      scope.get('/faults', () => ({ faults: faults.list() }));
      scope.post('/faults', (request) => {
        const given = parse(z.array(NamedFault), request.body, 'body');
        faults.add(given.map((fault) => faultOf(dialect, fault)));
        return { faults: faults.list() };
      });
      scope.get('/settings', () => simulation.settings());
      scope.post('/settings', (request) => {
        const changed = parse(PartialSettings, request.body, 'body');
        controls.changeSettings(changedSettings(simulation.settings(), changed));
        return simulation.settings();
      });
      scope.post('/changes', (request) => {
        const changes = parse(z.array(Change), listOf(request.body), 'body');
        for (const change of changes) {
          applyChange(simulation.directory(), simulation.clock(), change, dialect.changeRules);
        }
        return { changed: changes.length };
      });
      scope.post('/counts', (request) => setCount(simulation, parse(WrongCount, request.body, 'body')));
      scope.post('/page-tokens/expire', () => {
        simulation.pageTokens.expireAll();
        return { ok: true };
      });
      for (const { name, body, handle } of dialect.controls) {
        scope.post(`/${name}`, (request) => handle(parse(body, request.body ?? {}, 'body')));
      }
    },
    { prefix: CONTROLS_PREFIX },
  );
}

/** Returns the current state of the directory without lag. Tests compare answers with this state. */
function stateOf(simulation: Simulation) {
  const directory = simulation.directory();
  const view = directory.viewAt(simulation.clock());
  return {
    customerId: directory.customerId,
    domain: directory.domain,
    users: view.users(),
    groups: view.groups().map((group) => ({ ...group, members: membersOf(view, group.id) })),
  };
}

const membersOf = (view: View, groupId: string) =>
  view.members(groupId).map(({ memberId, kind, role, externalEmail }) => ({
    member: externalEmail ?? memberId,
    id: memberId,
    kind,
    role,
  }));

function setCount(simulation: Simulation, { group: key, count }: z.infer<typeof WrongCount>) {
  const group = simulation.directory().viewAt(simulation.clock()).group(key);
  if (group === undefined) throw notFound('group', key);
  if (count === 'right') simulation.wrongCounts.delete(group.id);
  else simulation.wrongCounts.set(group.id, count === null ? null : String(count));
  return { group: group.id, count };
}

function faultOf(dialect: Dialect, { error: name, ...fault }: z.infer<typeof NamedFault>): Fault {
  if (name === undefined) return fault;
  const error = dialect.errors[name]?.();
  if (error === undefined) {
    const known = Object.keys(dialect.errors).join(', ');
    throw badRequest(`body.error: expected one of ${known}, got ${JSON.stringify(name)}`);
  }
  const stated = error.headers['retry-after'];
  const retryAfter = fault.retryAfter ?? (Array.isArray(stated) ? stated[0] : stated);
  return {
    ...fault,
    status: error.status,
    body: error.body,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
}

function parse<T extends z.ZodType>(schema: T, value: unknown, root: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw badRequest(describeIssues(parsed.error, root));
  return parsed.data;
}

const listOf = (value: unknown): unknown => (Array.isArray(value) ? value : [value]);
