import type { PlatformGroupsReport } from '../../shared/contract/answers/platform-groups.ts';
import type { StatusReport } from '../../shared/contract/answers/status.ts';
import type { Role } from '../../shared/contract/console.ts';
import type { ConnectionName } from '../../shared/domain/ids.ts';
import { Refused } from '../../shared/operate/names.ts';
import type { Live } from './live.ts';
import { isAtLeast, roleFor, type SignedInPerson, seesEveryConnection } from './roles.ts';

interface Access {
  readonly role: Role;
  /** The person needs a role for all connections, because all connections share the dead-letter queues. */
  readonly everyConnection?: true;
}

const VIEW: Access = { role: 'viewer' };
const DECIDE: Access = { role: 'approver' };
const OPERATE: Access = { role: 'operator' };
const ADMINISTER: Access = { role: 'administrator' };
const MESSAGES: Access = { role: 'viewer', everyConnection: true };
const OPERATE_MESSAGES: Access = { role: 'operator', everyConnection: true };

/** The role that each query of the page needs. A query without an entry is refused. */
export const QUERY_ACCESS: Readonly<Record<string, Access | undefined>> = {
  home: VIEW,
  live: VIEW,
  groups: VIEW,
  group: VIEW,
  timeline: VIEW,
  past: VIEW,
  plan: VIEW,
  platformGroups: VIEW,
  holds: VIEW,
  hold: VIEW,
  people: VIEW,
  unmatched: VIEW,
  person: VIEW,
  explain: VIEW,
  activity: VIEW,
  deliveries: VIEW,
  deliverySurvey: VIEW,
  connection: VIEW,
  sessions: ADMINISTER,
  deadLetters: MESSAGES,
  deadLetter: MESSAGES,
  // The health checks read all groups and employees of the platform, so only operators may run them.
  doctor: OPERATE,
};

/**
 * The role that each action of the page needs. An action without an entry is refused. The action `settings` also needs
 * an administrator if the change weakens safety (`weakensSafety`), and `make-token` if four eyes is on.
 */
export const ACTION_ACCESS: Readonly<Record<string, Access>> = {
  approve: DECIDE,
  reject: DECIDE,
  pause: OPERATE,
  resume: OPERATE,
  'pause-all': OPERATE,
  'resume-all': OPERATE,
  acknowledge: OPERATE,
  sync: OPERATE,
  'preview-adoptions': OPERATE,
  adopt: OPERATE,
  'create-namesake': OPERATE,
  release: OPERATE,
  rebind: OPERATE,
  block: OPERATE,
  unblock: OPERATE,
  forget: OPERATE,
  'preview-settings': OPERATE,
  settings: OPERATE,
  'make-token': OPERATE,
  'revoke-token': OPERATE,
  validate: OPERATE_MESSAGES,
  amend: OPERATE_MESSAGES,
  discard: OPERATE_MESSAGES,
  replay: OPERATE_MESSAGES,
  // Requested changes weaken safety, so only an administrator may confirm them.
  'decide-requests': ADMINISTER,
  'end-sessions': ADMINISTER,
};

/** @throws Refused if the person does not have the role for the connection */
export function requireRole(person: SignedInPerson, connection: ConnectionName, required: Role): void {
  const role = roleFor(person, connection);
  if (role !== undefined && isAtLeast(role, required)) return;
  const has = role === undefined ? 'no role' : `the role ${role}`;
  throw new Refused(`this needs the role ${required}; you have ${has} for ${connection}`);
}

export const isAdministrator = (person: SignedInPerson | undefined, connection: ConnectionName): boolean =>
  person !== undefined && roleFor(person, connection) === 'administrator';

/** @throws Refused if the person may not do this */
export function requireAccess(
  person: SignedInPerson,
  connection: ConnectionName,
  access: Access | undefined,
): void {
  if (access === undefined) throw new Refused('this needs AWS credentials: use the command line');
  requireRole(person, connection, access.role);
  if (access.everyConnection === true && !seesEveryConnection(person))
    throw new Refused(
      'this needs a role for all connections, because the queue has messages of all connections',
    );
}

/** Returns the connections that the person may see. Without a person, returns all connections. */
export const visibleTo = <Row extends { readonly name: string }>(
  person: SignedInPerson | undefined,
  rows: readonly Row[],
): readonly Row[] => rows.filter(({ name }) => sees(person, name));

/** Whether the person has a role for the connection. True without a person: then AWS permissions decide. */
export const sees = (person: SignedInPerson | undefined, connection: string): boolean =>
  person === undefined || roleFor(person, connection as ConnectionName) !== undefined;

/**
 * Removes the owner and the external id from rows whose owner belongs to a connection that the person may not see. The
 * external id would name the owner. A row with the state `managed` and no owner means: a hidden connection owns the
 * platform group.
 */
export const withoutHiddenOwners = (
  report: PlatformGroupsReport,
  sees: (connection: string) => boolean,
): PlatformGroupsReport => ({
  ...report,
  groups: report.groups.map((row) =>
    row.owner === null || sees(row.owner.connection) ? row : { ...row, owner: null, spokeId: null },
  ),
});

/** Whether a person may see the messages of all connections. True without a person: then AWS permissions decide. */
export const seesMessages = (person: SignedInPerson | undefined): boolean =>
  person === undefined || seesEveryConnection(person);

/** Hides the numbers of messages in the queues, because the queues have messages of all connections. */
export const withoutMessages = <Shown extends { readonly status: StatusReport }>(shown: Shown): Shown => ({
  ...shown,
  status: { ...shown.status, queues: { events: null, eventsDlq: null, apply: null, applyDlq: null } },
});

/** Returns the actions and queries that the role may not use, with the role that may use them. */
function refusedTo(role: Role): Live['refused'] {
  const all = Object.entries({ ...QUERY_ACCESS, ...ACTION_ACCESS });
  return Object.fromEntries(
    all.flatMap(([name, access]) =>
      access === undefined || isAtLeast(role, access.role) ? [] : [[name, access.role]],
    ),
  );
}

/** Adds the role, and removes what the person may not see: other connections, and messages of all connections. */
export function withoutHidden(live: Live, person: SignedInPerson, connection: ConnectionName): Live {
  const role = roleFor(person, connection);
  return {
    ...live,
    role: role ?? null,
    refused: role === undefined ? {} : refusedTo(role),
    deadLetters: seesEveryConnection(person) ? live.deadLetters : null,
    connections: visibleTo(person, live.connections),
  };
}
