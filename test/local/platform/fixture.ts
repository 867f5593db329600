import { createSimulator } from '../../../local/platform/simulator.ts';
import type { WorldInput } from '../../../local/platform/state/world.ts';
import { type Sent, sendTo } from '../../support/inject.ts';

export const NOW_MS = Date.UTC(2026, 10, 20, 10);
export const APP = 'acme-app';
export const OTHER_APP = 'globex-app';

const address = { streetLine1: '1 Main St', city: 'Springfield', country: 'US' };

/** Two companies. The first has a credential of every kind. */
export const WORLD = {
  companies: [
    {
      id: 'acme',
      name: 'Acme',
      address,
      primaryEmail: 'hello@acme.test',
      phone: '+1 555 0100',
      legalEntities: [{ name: 'Acme Canada', country: 'CA' }],
      employees: [
        {
          id: 'r1',
          userId: 'u1',
          name: 'Ann Archer',
          workEmail: 'ann@acme.test',
          personalEmail: 'ann@home.test',
          isManager: true,
          ein: '12-3456789',
          department: 'Engineering',
          worklocationNickname: 'HQ',
          workLocation: address,
          customFields: { 'Okta ID': '00u1' },
        },
        {
          id: 'r2',
          userId: 'u2',
          name: 'Bob Baker',
          workEmail: 'bob@acme.test',
          manager: 'r1',
          ein: 987654321,
        },
        { id: 'r3', userId: 'u3', name: 'Cid Cook', roleState: 'TERMINATED', endDate: '2026-01-31' },
        { id: 'r4', userId: 'u4', name: 'Dee Dyer', provisioned: false },
        { id: 'r5', userId: 'u5', name: 'Eve Elm', roleState: 'ACCEPTED' },
      ],
      departments: [
        { id: 'd1', name: 'Engineering' },
        { id: 'd2', name: 'Platform', parent: 'd1' },
      ],
      teams: [{ id: 't1', name: 'Blue' }],
      levels: [{ id: 'l1', name: 'Manager' }],
      workLocations: [{ id: 'w1', nickname: 'HQ', address }],
      customFields: [{ id: 'c1', type: 'TEXT', title: 'Okta ID', caption: null, required: false }],
      leaveTypes: [
        { id: 'vac', leaveType: 'VACATION', name: 'Vacation', description: 'Paid', isUnpaid: false },
        { id: 'sick', leaveType: 'SICK', isBalanceUnlimited: true, managedBy: 'LEAVES' },
        { id: 'jury', leaveType: 'JURY_DUTY', isUnpaid: true, managedBy: 'PARTNER' },
      ],
      leavePolicies: [{ id: 'p1', name: 'Standard vacation' }],
      groups: [{ id: 'g1', name: 'Admins', spokeId: 's1', users: ['u1', 'unknown'], version: 'v1' }],
    },
    {
      id: 'globex',
      name: 'Globex',
      employees: [{ id: 'x1', userId: 'y1', name: 'Xia Xu' }],
      groups: [{ id: 'gx', name: 'Theirs', spokeId: null, users: [] }],
    },
  ],
  credentials: [
    { token: APP, kind: 'oauth_app', company: 'acme', role: 'admin', app: 'directory-sync', employee: 'r1' },
    { token: 'acme-key', kind: 'api_key', company: 'acme', role: 'admin' },
    { token: 'acme-manager', kind: 'api_key', company: 'acme', role: 'manager', employee: 'r1' },
    { token: 'acme-employee', kind: 'api_key', company: 'acme', role: 'employee', employee: 'r2' },
    { token: 'acme-bare', kind: 'api_key', company: 'acme', scopes: [] },
    {
      token: 'acme-mail',
      kind: 'api_key',
      company: 'acme',
      scopes: ['employees:work-email', 'company:name'],
    },
    { token: OTHER_APP, kind: 'oauth_app', company: 'globex' },
  ],
} satisfies WorldInput;

/** A request for leave that the world permits. */
export const LEAVE = {
  role: 'r1',
  companyLeaveType: 'jury',
  startDate: '2026-12-01',
  endDate: '2026-12-01',
};

/** Starts a simulator whose clock the test sets. Returns functions that call the simulator. */
export function startSimulator(options: { world?: WorldInput; dataFile?: string } = {}) {
  const clock = { ms: NOW_MS };
  let ids = 0;
  const newId = () => {
    ids += 1;
    return `id-${ids}`;
  };
  const defects: unknown[] = [];
  const simulator = createSimulator({
    world: options.world ?? WORLD,
    dataFile: options.dataFile,
    clock: () => clock.ms,
    newId,
    onDefect: (error) => defects.push(error),
  });
  const send = sendTo(simulator.app);
  const call = (request: string, { token = APP, body, headers = {} }: Sent = {}) => {
    const [method = 'GET', path = ''] = request.split(' ');
    const isOfApi = !(path.startsWith('/_') || path === '/' || path.startsWith('/openapi'));
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const url = isOfApi ? `/platform/api${path}` : path;
    return send(`${method} ${url}`, { token, body, headers: { ...json, ...headers } });
  };
  return { simulator, call, clock, defects };
}
