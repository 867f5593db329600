import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { wantedContent } from '../../../simulate/platform/rules.ts';
import type { Simulation } from '../endpoint.ts';
import { badRequest, describeIssues, notFound } from '../errors.ts';
import { type Author, changeGroup, deleteGroup } from '../group-changes.ts';
import { booleanParameter, integerParameter } from '../query.ts';
import { INITIATOR_TYPES } from '../schemas/activity.ts';
import { WriteGroup } from '../schemas/group.ts';
import { definedOnly } from '../state/defined-only.ts';
import { completeEmployee } from '../state/from-world.ts';
import type { CompanyState } from '../state/state.ts';
import { worldFromState } from '../state/to-world.ts';
import { WorldEmployee, withoutNulls } from '../state/world.ts';
import { Fault, type Faults } from './faults.ts';
import { refuseOutsiders } from './loopback.ts';
import type { RequestLog } from './request-log.ts';
import { Settings } from './settings.ts';

export const CONTROLS_PREFIX = '/_simulator';

export interface Controls {
  readonly simulation: Simulation;
  readonly faults: Faults;
  readonly log: RequestLog;
  readonly changeSettings: (settings: Settings) => void;
  readonly reset: () => void;
  readonly onDefect: (error: unknown) => void;
}

/** The fields for the author of a change through `/_simulator/groups/ID`. */
export const ChangeAuthor = z.object({
  initiator: z.enum(INITIATOR_TYPES).default('ROLE'),
  role: z.string().optional().describe('Role id of the initiator, if the type of the initiator is ROLE.'),
  app: z.string().default('another-app'),
  company: z.string().optional().describe('The company; required if two companies use the same group id.'),
});
/** The body of `POST /_simulator/groups/ID`. */
export const ExternalChange = WriteGroup.omit({ version: true }).extend(ChangeAuthor.shape);
const PartialSettings = Settings.partial();
/** The body of `POST /_simulator/employees`. */
export const UpsertEmployee = WorldEmployee.extend({ company: z.string().optional() });
/** The query of `GET /_simulator/requests`. */
export const RequestsQuery = z.object({
  since: integerParameter(0).default(0),
  bodies: z
    .union([z.literal('1').transform(() => true), z.literal('0').transform(() => false), booleanParameter])
    .default(false),
});

/**
 * Registers the test controls, which are not in the platform's specification. They need no authentication, and accept
 * only requests from this machine.
 */
export function registerControls(app: FastifyInstance, controls: Controls): void {
  const { simulation, faults, log } = controls;
  const { store } = simulation;
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request) => refuseOutsiders(request));
      scope.get('/state', () => worldFromState(store.state));
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
        faults.add(parse(z.array(Fault), bodyOf(request), 'body'));
        return { faults: faults.list() };
      });
      scope.get('/settings', () => simulation.settings());
      scope.post('/settings', (request) => {
        const changed = parse(PartialSettings, bodyOf(request), 'body');
        controls.changeSettings({ ...simulation.settings(), ...definedOnly(changed) });
        return simulation.settings();
      });
      scope.post<{ Params: { id: string } }>('/groups/:id', (request) => {
        const change = parse(ExternalChange, bodyOf(request), 'body');
        const { company, group } = findGroup(simulation, request.params.id, change.company);
        const content = wantedContent('PATCH', group, change);
        const changed = changeGroup(group, content, authorOf(simulation, company, change));
        store.commit(changed.changes);
        return changed.group;
      });
      scope.delete<{ Params: { id: string } }>('/groups/:id', (request) => {
        const by = parse(ChangeAuthor, { ...objectOf(request.query), ...objectOf(bodyOf(request)) }, 'body');
        const { company, group } = findGroup(simulation, request.params.id, by.company);
        store.commit(deleteGroup(group, authorOf(simulation, company, by)));
        return { ok: true };
      });
      scope.post('/employees', (request) => upsertEmployee(simulation, bodyOf(request)));
    },
    { prefix: CONTROLS_PREFIX },
  );
}

/**
 * Changes the given fields of a known employee. An unknown employee is added, with default values for missing fields.
 */
function upsertEmployee(simulation: Simulation, body: unknown) {
  const { company: named, ...given } = parse(UpsertEmployee, withoutNulls(body), 'body');
  const { companies } = simulation.store.state;
  const holders = [...companies.values()].filter(
    (one) => given.id !== undefined && one.employees.has(given.id),
  );
  const company = named === undefined ? (holders[0] ?? [...companies.values()][0]) : companies.get(named);
  if (company === undefined) throw notFound('company', named ?? '');
  const known = given.id === undefined ? undefined : company.employees.get(given.id);
  const merged = { ...known, ...definedOnly(given) };
  const employee = completeEmployee(merged, simulation.newId, company.employees.size + 1);
  simulation.store.commit([{ kind: 'employee', company: company.id, employee }]);
  return employee;
}

function findGroup(simulation: Simulation, id: string, named: string | undefined) {
  for (const company of simulation.store.state.companies.values()) {
    const group = company.groups.get(id);
    if (group !== undefined && (named === undefined || named === company.id)) return { company, group };
  }
  throw notFound('group', id);
}

function authorOf(simulation: Simulation, company: CompanyState, by: z.infer<typeof ChangeAuthor>): Author {
  const common = { company, atMs: simulation.clock(), newId: simulation.newId, spoke: by.app };
  if (by.initiator === 'EXTERNAL') {
    return { ...common, initiator: { type: 'EXTERNAL', role: null, displayName: by.app } };
  }
  if (by.initiator === 'SYSTEM') {
    return { ...common, initiator: { type: 'SYSTEM', role: null, displayName: 'System' } };
  }
  const role = by.role ?? [...company.employees.values()].find((one) => one.isManager)?.id ?? null;
  const displayName = company.employees.get(role ?? '')?.name ?? 'An administrator';
  return { ...common, initiator: { type: 'ROLE', role, displayName } };
}

function parse<T extends z.ZodType>(schema: T, value: unknown, root: string): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw badRequest(describeIssues(parsed.error, root));
  return parsed.data;
}

const bodyOf = (request: FastifyRequest): unknown => request.body ?? {};

const objectOf = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
