import { hashOf } from './random.ts';
import { type DirectoryAction, type Happening, originalName, type Way } from './simulation-run.ts';

export type DirectoryHappening = Extract<Happening, { readonly actor: 'directory' }>;

/** A message for the events queue. `connection` is also sent as an attribute of the message. */
export interface OutgoingMessage {
  readonly connection: string;
  readonly body: string;
  readonly delayMs: number;
  readonly copies: number;
  /** The events in the message. `directory-record.ts` records them when SQS delivers the message. */
  readonly events: readonly DirectoryEvent[];
  /** The operator who sends the message from a file. */
  readonly sentBy?: readonly string[];
}

/** A token, and the persons who created and confirmed it. */
export interface ScimToken {
  readonly token: string;
  readonly creators: readonly string[];
}

/** A request to the SCIM server, without its token. */
export interface ScimRequest {
  readonly connection: string;
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base URL, such as `/Groups/<id>` or `/Users`. */
  readonly path: string;
  readonly body: object | undefined;
  /**
   * Only for a POST. `key` is the name of the resource in this run. `lookUp` is the search that the client sends before
   * the POST. If the search finds the resource, the client sends a request with the found id, and no POST.
   * `directory-record.ts` records the id of the found or created resource.
   */
  readonly creates?: { readonly key: string; readonly lookUp: string };
  /**
   * Returns the events that have the same meaning as the accepted request. `directory-record.ts` records them. `made`
   * is the id in the answer to a POST. Other requests ignore `made`.
   */
  readonly events: (made: string) => readonly DirectoryEvent[];
}

/** An event about one group or one member, with the ids that groupsync stores. */
export interface DirectoryEvent {
  readonly kind: 'name' | 'delete' | 'join' | 'leave' | 'snapshot' | 'profile' | 'forget';
  readonly group?: string;
  readonly name?: string | null;
  /** The members that the event names. A `profile` or `forget` names one member. */
  readonly members?: readonly EventMember[];
  readonly part?: { readonly snapshotId: string; readonly index: number; readonly count: number };
  /** The actor of the change, if the message names one. */
  readonly by?: string;
  readonly order: Order;
}

export interface EventMember {
  readonly id: string;
  readonly email?: string | null;
  readonly number?: string;
  /** Whether the account is active; undefined if the event does not say so. */
  readonly isActive?: boolean;
}

interface Order {
  /**
   * An RFC 3339 time; undefined if the message or request contains no time. Without a time, ingest uses the time at
   * which the message was sent. The SCIM server uses the time of the request.
   */
  readonly time: string | undefined;
  readonly sequence?: string | undefined;
  /** The id of the event; undefined means the id of the message. */
  readonly id: string | undefined;
  readonly source: string;
}

/** Returns whether the group or member exists only in the SCIM server. This server assigns its id. */
export const isScimKey = (key: string): boolean => key.startsWith('s') || key.startsWith('q');

/** Returns the address of a member in events about groups. */
export const addressOf = (member: string, connection: string): string | undefined =>
  /^[hn\d]/.test(member) ? undefined : `${member}@${originalName(connection)}.test`;

/** Returns the first employee number of a member `n…`; undefined for other members. A profile may change it. */
export const numberOf = (member: string, connection: string): string | undefined =>
  member.startsWith('n') ? `${originalName(connection)}-${member}` : undefined;

/** Returns the messages of one happening. A SCIM request has no message. `atMs` is the simulated time. */
export function messagesOf(happening: DirectoryHappening, atMs: number): readonly OutgoingMessage[] {
  const { connection, action, way } = happening;
  if (way.form === 'scim_request') return [];
  const eventId =
    way.eventId ?? `e-${atMs.toString(36)}-${hashOf(JSON.stringify([connection, action, way])).toString(36)}`;
  const carried = { connection, delayMs: way.lateMs, copies: way.copies };
  if (action.kind === 'rubbish') return [{ ...carried, body: action.body, events: [] }];
  if (action.kind === 'wide') {
    const time = timeOf(atMs, way.time);
    const written = Array.from({ length: action.groups }, (_, index): Written => {
      const group = `${action.prefix}${index}`;
      const facts: Facts = { kind: 'snapshot', group, name: group, members: [{ id: `p${index % 40}` }] };
      return { facts, connection, id: `${eventId}-${index}`, time, atMs };
    });
    const events = written.map((one) => ({ ...one.facts, order: native(one).order }));
    return [{ ...carried, body: JSON.stringify(written.map((one) => native(one).event)), events }];
  }
  const parts = action.kind === 'snapshot' && action.parts > 1 ? action.parts : 1;
  const form = canCarry(happening, parts) ? (way.form as MessageForm) : 'native';
  return Array.from({ length: parts }, (_, index) => {
    const id = parts === 1 ? eventId : `${eventId}-${index}`;
    const part = parts === 1 ? undefined : { snapshotId: eventId, index, count: parts };
    const by = way.by !== undefined && NAMES_ACTOR.has(form) ? { by: way.by } : {};
    const facts = { ...factsOf(action, connection, form, part), ...by };
    const time = timeOf(atMs + index * PART_SPACING_MS, way.time);
    const { body, order } = FORMS[form]({ facts, connection, id, time, atMs });
    return { ...carried, body: JSON.stringify(body), events: [{ ...facts, order }] };
  });
}

const PART_SPACING_MS = 100;
const FUTURE_MS = 3_600_000;

function timeOf(atMs: number, time: Way['time']): string {
  const text = new Date(time === 'future' ? atMs + FUTURE_MS : atMs).toISOString();
  return time === 'whole_second' ? text.replace(/\.\d+/, '') : text;
}

type Facts = Omit<DirectoryEvent, 'order'>;
type SayableAction = Exclude<DirectoryAction, { kind: 'wide' | 'rubbish' }>;

function factsOf(
  action: SayableAction,
  connection: string,
  form: Way['form'],
  part: DirectoryEvent['part'],
): Facts {
  if (!('group' in action)) {
    const { kind, member: id } = action;
    if (action.kind === 'forget') return { kind, members: [{ id }] };
    const { email, number } = action;
    // Okta's events contain only the login and the address of a person.
    const numbered = number !== undefined && form !== 'okta' && { number };
    return { kind, members: [{ id, ...(email !== undefined && { email }), ...numbered }] };
  }
  const isInPart = (_: string, index: number) => part === undefined || index % part.count === part.index;
  const isNumbered = form === 'native' || form === 'sns' || form === 'eventbridge';
  const eventMember = (id: string): EventMember => {
    const number = isNumbered ? numberOf(id, connection) : undefined;
    const email = addressOf(id, connection) ?? null;
    return { id, email, ...(number !== undefined && { number }) };
  };
  return {
    kind: action.kind,
    group: action.group,
    ...('name' in action && { name: action.name }),
    ...('members' in action && { members: action.members.filter(isInPart).map(eventMember) }),
    ...(part && { part }),
  };
}

interface Written {
  readonly facts: Facts;
  readonly connection: string;
  readonly id: string;
  readonly time: string | undefined;
  readonly atMs: number;
}

type Form = (written: Written) => { readonly body: object; readonly order: Order };

/**
 * Returns whether a message of this form can express the happening. If not, the native form is used, which can express
 * every happening.
 *
 *   the happening           | the other forms that can express it
 *   ------------------------|------------------------------------
 *   a snapshot in parts     | SNS, EventBridge
 *   a snapshot in one part  | all except Okta
 *   any other action        | all
 */
function canCarry({ action, way }: DirectoryHappening, parts: number): boolean {
  if (parts > 1) return way.form === 'sns' || way.form === 'eventbridge';
  return way.form !== 'okta' || action.kind !== 'snapshot';
}

/** The event type of each kind of event in the native form and in Okta's form. */
const TYPES: Readonly<Record<Facts['kind'], readonly [native: string, okta: string]>> = {
  name: ['directory.group.upserted', 'group.profile.update'],
  delete: ['directory.group.deleted', 'group.lifecycle.delete'],
  snapshot: ['directory.group.snapshot', 'none'],
  join: ['directory.group.member.added', 'group.user_membership.add'],
  leave: ['directory.group.member.removed', 'group.user_membership.remove'],
  profile: ['directory.user.upserted', 'user.account.update_profile'],
  forget: ['directory.user.deleted', 'user.lifecycle.delete.completed'],
};

/** The kind of event of each event type of the native form. */
export const NATIVE_KINDS: ReadonlyMap<string, DirectoryEvent['kind']> = new Map(
  Object.entries(TYPES).map(([kind, [native]]) => [native, kind as DirectoryEvent['kind']]),
);

const NAMES_ACTOR: ReadonlySet<Way['form']> = new Set<Way['form']>(['native', 'sns', 'eventbridge', 'okta']);

/** Returns the data of an event. JSON leaves out fields that are undefined. */
const dataOf = ({ kind, group, name, members, part }: Facts): object => {
  const shown = members?.map(({ number, ...member }) => ({ ...member, employeeNumber: number }));
  if (kind === 'profile' || kind === 'forget') return { user: shown?.[0] };
  return { group: { id: group, name }, members: shown, part };
};

/**
 * Returns a message in the native form. If its time has only whole seconds, the message also contains a sequence
 * number. This number orders the events of one second.
 */
function native({ facts, connection, id, time = '', atMs }: Written) {
  const sequence = time.includes('.') ? undefined : String(atMs % 1000);
  const order: Order = { time, sequence, id, source: `d/${connection}` };
  const type = TYPES[facts.kind][0];
  const { by: actor } = facts;
  return { event: { specversion: '1.0', type, ...order, connection, actor, data: dataOf(facts) }, order };
}

const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';

type MessageForm = Exclude<Way['form'], 'scim_request'>;

const FORMS: Readonly<Record<MessageForm, Form>> = {
  native: (written) => {
    const { event, order } = native(written);
    return { body: event, order };
  },
  sns: (written) => {
    const { event, order } = native(written);
    const MessageAttributes = { connection: { Type: 'String', Value: written.connection } };
    const Timestamp = new Date(written.atMs).toISOString();
    const envelope = { Type: 'Notification', MessageId: `sns-${written.id}`, Timestamp, MessageAttributes };
    return { body: { ...envelope, Message: JSON.stringify(event) }, order };
  },
  eventbridge: ({ facts, connection, id, time = '' }) => {
    const detail = { ...dataOf(facts), connection, actor: facts.by };
    const body = { version: '0', id, 'detail-type': TYPES[facts.kind][0], source: 'directory', time, detail };
    return { body, order: { time, id, source: 'directory' } };
  },
  okta: ({ facts: { kind, members = [], group, name, by }, id, time }) => {
    // Okta shows the login as the user typed it. This function changes the first character to upper case.
    const loginOf = (email: string) => email.replace(/^./, (first) => first.toUpperCase());
    const users = members.map((one) => {
      return { id: one.id, type: 'User', alternateId: one.email == null ? 'unknown' : loginOf(one.email) };
    });
    const groups =
      group === undefined ? [] : [{ id: group, type: 'UserGroup', displayName: name ?? 'unknown' }];
    const about = {
      eventType: TYPES[kind][1],
      outcome: { result: 'SUCCESS' },
      actor: by === undefined ? undefined : { id: by, type: 'User' },
      target: [...users, ...groups],
    };
    return { body: { uuid: id, published: time, ...about }, order: { time, id, source: 'okta' } };
  },
};

const groupResource = (
  externalId: string | undefined,
  { name, members }: Pick<Facts, 'name' | 'members'>,
) => ({
  schemas: [GROUP],
  externalId,
  displayName: name ?? undefined,
  members: members && scimMembers(members),
});

const scimMembers = (members: readonly EventMember[]) =>
  members.map(({ id, email }) => ({ value: id, display: email ?? undefined }));

function operationsOf({ kind, name, members = [] }: Facts): readonly object[] {
  const naming = name == null ? [] : [{ op: 'replace', path: 'displayName', value: name }];
  if (kind === 'join') return [{ op: 'add', path: 'members', value: scimMembers(members) }];
  if (kind === 'leave') return members.map(({ id }) => ({ op: 'remove', path: `members[value eq "${id}"]` }));
  return kind === 'snapshot'
    ? [...naming, { op: 'replace', path: 'members', value: scimMembers(members) }]
    : naming;
}

/**
 * Returns the SCIM request of a happening. If the group or member does not exist in the server yet, most actions become
 * a POST that creates it.
 * @param idOf returns the id that the server assigned; undefined if there is none
 * @returns the request; undefined if the happening is sent as a message, is `rubbish` or `wide`, or is a `forget`,
 * `delete` or `leave` of a user or group that the server does not have
 */
export function scimRequestOf(
  { connection, action, way }: DirectoryHappening,
  idOf: (connection: string, key: string) => string | undefined,
): ScimRequest | undefined {
  if (way.form !== 'scim_request' || action.kind === 'rubbish' || action.kind === 'wide') return undefined;
  const known = (key: string) => idOf(connection, key);
  const request = 'group' in action ? groupRequest(action, known) : userRequest(action, connection, known);
  return request && { connection, ...request };
}

type Request = Omit<ScimRequest, 'connection'>;
type IdOf = (key: string) => string | undefined;
/** The server orders requests by the time at which it handles them. */
const WHEN_HANDLED: Order = { time: undefined, id: undefined, source: 'scim' };

function userRequest(
  action: Extract<DirectoryAction, { member: string }>,
  connection: string,
  idOf: IdOf,
): Request | undefined {
  const { kind, member: key } = action;
  const id = idOf(key);
  const email = (action.kind === 'profile' ? action.email : null) ?? null;
  const events = (made: string) => [{ kind, members: [{ id: id ?? made, email }], order: WHEN_HANDLED }];
  const path = `/Users/${id}`;
  if (kind === 'forget')
    return id === undefined ? undefined : { method: 'DELETE', path, body: undefined, events };
  const emails = [{ value: email, type: 'work', primary: true }];
  if (id === undefined) {
    const body = { schemas: [USER], userName: `${key}.${connection}`, externalId: key, emails };
    return { method: 'POST', path: '/Users', body, creates: createdAs('Users', key), events };
  }
  const Operations = [{ op: 'replace', path: 'emails', value: emails }];
  return { method: 'PATCH', path, body: { schemas: [PATCH_OP], Operations }, events };
}

function groupRequest(action: Extract<DirectoryAction, { group: string }>, idOf: IdOf): Request | undefined {
  const { kind, group: key } = action;
  const id = idOf(key);
  const name = ('name' in action ? action.name : null) ?? undefined;
  // A request can only name users that exist in the server.
  const named = 'members' in action ? action.members.flatMap((one) => idOf(one) ?? []) : undefined;
  const members = named?.map((one) => ({ id: one }));
  if (id === undefined) {
    if (kind === 'delete' || kind === 'leave') return undefined;
    const whole = { name: name ?? key, members: members ?? [] };
    const events = (group: string) => [{ kind: 'snapshot', group, ...whole, order: WHEN_HANDLED } as const];
    const body = groupResource(externalIdOf(key), whole);
    return { method: 'POST', path: '/Groups', body, creates: createdAs('Groups', key), events };
  }
  const path = `/Groups/${id}`;
  const facts: Facts = { kind, group: id, ...(name !== undefined && { name }), ...(members && { members }) };
  const events = () => [{ ...facts, order: WHEN_HANDLED }];
  if (kind === 'delete') return { method: 'DELETE', path, body: undefined, events };
  const isWhole = kind === 'snapshot' && name !== undefined;
  if (isWhole) return { method: 'PUT', path, body: groupResource(key, facts), events };
  return { method: 'PATCH', path, body: { schemas: [PATCH_OP], Operations: operationsOf(facts) }, events };
}

const externalIdOf = (key: string): string => key.replace(/^s-/, '');

const createdAs = (type: string, key: string) => ({
  key,
  lookUp: `/${type}?filter=externalId eq "${externalIdOf(key)}"`,
});
