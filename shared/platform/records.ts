import { createHash } from 'node:crypto';
import type { EmployeeField } from '../contract/match-rule.ts';
import { UNKNOWN_INITIATOR } from '../domain/drift.ts';
import { platformGroupId } from '../domain/ids.ts';
import { type EmployeeRecord, type FeedStart, failureIn, type Platform } from '../sync/ports/platform.ts';
import type { FeedEvent } from '../sync/ports/reconcile.ts';
import { type Calling, calling, PlatformError } from './errors.ts';
import type { GroupClient } from './group-client.ts';
import type { ListedActivity } from './resources/activity.ts';
import type { Employee } from './resources/employees.ts';

type Wanted = Parameters<Platform['employees']>[0];

/** The states that `include_terminated` returns by default. `send_all_roles` adds people before their first day. */
const LISTED_STATES: ReadonlySet<string> = new Set(['ACTIVE', 'TERMINATED']);

/**
 * Reads employees for the people index, page by page. Terminated employees are included, because the absence of an
 * employee does not prove that the person has left.
 */
export async function* employeePages(client: GroupClient, wanted: Wanted, call: Calling) {
  for await (const page of calling(client.employees.pagesAll(listOf(wanted)), call))
    yield page.map((employee) => recordOf(employee, wanted.fields));
}

/** Like `employeePages`, but yields a failure for each position at which the platform repeatedly fails. */
export async function* readableEmployees(client: GroupClient, wanted: Wanted, call: Calling) {
  for await (const page of calling(client.employees.pagesAllPassingOver(listOf(wanted)), call)) {
    if (!(page instanceof PlatformError)) yield page.map((employee) => recordOf(employee, wanted.fields));
    else {
      const failure = await failureIn(() => call(() => Promise.reject(page)));
      if (failure !== undefined) yield failure;
    }
  }
}

const listOf = ({ states, isEveryone = false }: Wanted) =>
  isEveryone || states.some((state) => !LISTED_STATES.has(state)) ? { sendAllRoles: true } : {};

export function recordOf(employee: Employee, fields: readonly EmployeeField[]): EmployeeRecord {
  const { id, userId, roleState } = employee;
  const values = fields.flatMap((field): [EmployeeField, string | null][] => {
    const value = fieldValueOf(employee, field);
    return value === undefined ? [] : [[field, value]];
  });
  return {
    role: id,
    fields: new Map(values),
    ...(userId ? { userId } : {}),
    ...(typeof roleState === 'string' ? { state: roleState } : {}),
  };
}

/** Returns undefined if the response has no such field. The specification does not define the type of custom values. */
function fieldValueOf(employee: Employee, field: EmployeeField): string | null | undefined {
  if (field.kind === 'field') return employee[field.name];
  const value = employee.customFields?.[field.title];
  return textOf(isObject(value) && 'value' in value ? value.value : value);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function textOf(value: unknown): string | null | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' || value === null ? value : undefined;
}

/** Reads the changed groups and the initiators from the activity feed. An unknown event type is not an error. */
export async function* feedPages(client: GroupClient, start: FeedStart, call: Calling) {
  for await (const { events, next, done } of calling(client.activity.follow(start), call)) {
    yield { events: events.map(eventOf), next, done };
  }
}

/** Converts an event. Each text is shortened, because many events are stored in one item. */
function eventOf({ id, timestamp, subjects, initiator, event_type: type }: ListedActivity): FeedEvent {
  return {
    id: id.length <= LONGEST_TEXT ? id : createHash('sha256').update(id).digest('base64url'),
    at: timestamp?.slice(0, LONGEST_TEXT) ?? null,
    initiator: initiator?.type?.slice(0, LONGEST_TEXT) ?? UNKNOWN_INITIATOR,
    type: type?.slice(0, LONGEST_TEXT) ?? '',
    ...actorOf(initiator),
    groups: (subjects ?? []).flatMap(({ type, instance }) =>
      type === 'GROUP' && instance ? [platformGroupId(instance)] : [],
    ),
  };
}

const LONGEST_TEXT = 100;
const LONGEST_NAME = 200;

function actorOf(initiator: ListedActivity['initiator']): Pick<FeedEvent, 'actor'> {
  const [role, name] = [initiator?.role, initiator?.display_name].map(
    (text) => text?.slice(0, LONGEST_NAME).toWellFormed() || null,
  );
  return role || name ? { actor: { role: role ?? null, name: name ?? null } } : {};
}
