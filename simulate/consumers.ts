import { readerBinding } from '../shared/contract/decode.ts';
import { readApplyMessage } from '../shared/contract/invocation.ts';
import { MESSAGE_ATTRIBUTES } from '../shared/contract/names.ts';
import { EVENT_SOURCES } from '../shared/contract/topology.ts';
import { handleScim } from '../shared/scim/server/handle.ts';
import type { HttpRequest } from '../shared/scim/server/http.ts';
import { applyGroup } from '../shared/sync/apply/apply.ts';
import { ingest } from '../shared/sync/ingest/ingest.ts';
import type { Cloud } from './cloud.ts';
import { type DirectoryHappening, type ScimRequest, type ScimToken, scimRequestOf } from './messages.ts';
import type { QueuedMessage } from './queues.ts';
import { isOfReader } from './reader/reader-events.ts';

/** The concurrent invocations for one queue. More made runs slower, and found no more bugs. */
const AT_ONCE = 3;

/** Simulates Lambda's event source mappings, which delete the messages that succeed. */
export function startConsumers(cloud: Cloud): void {
  const { queues, time } = cloud;
  const planned = new Set<string>();
  const busy = { events: 0, apply: 0 };

  const pollAt = (queue: 'events' | 'apply', atMs: number) => {
    const key = `${queue}@${atMs}`;
    if (planned.has(key)) return;
    planned.add(key);
    time.at(atMs, () => {
      planned.delete(key);
      poll(queue);
    });
  };
  const poll = (queue: 'events' | 'apply') => {
    const source = EVENT_SOURCES[queue === 'events' ? 'ingest' : 'apply'];
    while (!cloud.isOver && busy[queue] < AT_ONCE) {
      const batch = queues.of[queue].receive(source.batchSize).map((message) => ({ ...message }));
      if (batch.length === 0) return;
      busy[queue] += 1;
      const timeoutMs = source.functionTimeoutSeconds * 1_000;
      const done = () => {
        busy[queue] -= 1;
        poll(queue);
      };
      cloud.start((queue === 'events' ? takeEvents : applyGroups)(cloud, batch, timeoutMs).finally(done));
    }
  };
  queues.listen((queue, atMs) => {
    // The events queue has a batching window of one second.
    if (queue === 'events') pollAt(queue, Math.ceil((atMs + 1_000) / 1_000) * 1_000);
    if (queue === 'apply') pollAt(queue, Math.ceil((atMs + 20) / 100) * 100);
  });
}

function takeEvents(cloud: Cloud, batch: readonly QueuedMessage[], timeoutMs: number): Promise<boolean> {
  const { runLog, directory, nowMs, queues } = cloud;
  return cloud.invoke('ingest', timeoutMs, async ({ ports, worker }) => {
    for (const { id, body, attributes } of batch) {
      const connection = attributes[MESSAGE_ATTRIBUTES.connection];
      directory.arrived({ messageId: id, body, connection, atMs: nowMs() });
    }
    const messages = batch.map(({ id, body, sentAtMs, receives, attributes }) => ({
      messageId: id,
      body,
      sentAtMs,
      receives,
      connection: attributes[MESSAGE_ATTRIBUTES.connection],
      stamp: attributes[MESSAGE_ATTRIBUTES.stamp],
      sentBy: attributes[MESSAGE_ATTRIBUTES.sentBy],
      failedBefore: attributes[MESSAGE_ATTRIBUTES.failedBefore],
      bound: isOfReader(body)
        ? readerBinding('groupsync-events', attributes[MESSAGE_ATTRIBUTES.connection])
        : undefined,
    }));
    const at = (part: number) => ports.clock() + part * timeoutMs;
    const report = await ingest(messages, ports, { startUntilMs: at(0.5), stopAtMs: at(0.85) });
    for (const { connection, group } of report.changedGroups)
      cloud.lastMessageMs.set(`${connection} ${group}`, nowMs());
    await worker.effect('acknowledge events');
    for (const { id, receipt = '' } of batch) {
      if (!report.failedMessages.has(id)) queues.of.events.delete(receipt);
    }
    const what = `took ${batch.length - report.failedMessages.size} of ${batch.length} messages`;
    const [only, ...others] = report.changedGroups;
    const detail = `about ${report.changedGroups.map(({ group }) => group).join(', ') || 'no group'}`;
    runLog.log({ lane: 'ingest', ...(others.length === 0 && only), what, detail });
  });
}

async function applyGroups(cloud: Cloud, batch: readonly QueuedMessage[], timeoutMs: number): Promise<void> {
  const runs = [applyBatch(cloud, batch, timeoutMs)];
  if (cloud.lambdas.isTwin()) runs.push(applyBatch(cloud, batch, timeoutMs));
  await Promise.all(runs);
}

async function applyBatch(cloud: Cloud, batch: readonly QueuedMessage[], timeoutMs: number): Promise<void> {
  const isWhole = await cloud.invoke('apply', timeoutMs, async ({ ports, worker }) => {
    const all = await Promise.allSettled(
      batch.map(async ({ body, receipt = '' }) => {
        const ref = readApplyMessage(body);
        if (ref === undefined) throw new TypeError(`not an apply message: ${body}`);
        const { outcome, writes, cause } = await applyGroup(ref, ports);
        const done = writes.map(({ action, added, removed }) => `${action} +${added} −${removed}`).join(', ');
        cloud.runLog.log({
          lane: 'apply',
          connection: ref.connection,
          group: ref.group,
          what: done === '' ? outcome : `${outcome}: ${done}`,
          ...(cause instanceof Error ? { detail: cause.message } : {}),
        });
        await worker.effect('acknowledge apply');
        cloud.queues.of.apply.delete(receipt);
      }),
    );
    for (const one of all) if (one.status === 'rejected') throw one.reason;
  });
  for (const { body } of isWhole ? [] : batch) {
    const { connection, group } = readApplyMessage(body) ?? {};
    const key = `${connection} ${group}`;
    cloud.cutOffMs.set(key, [...(cloud.cutOffMs.get(key) ?? []), cloud.nowMs()]);
  }
}

/** Waiting requests of a SCIM client, by group or user. */
export type ScimLanes = Map<string, Promise<unknown>>;

/** A simulated identity provider waits for this time before it repeats a request. It ignores Retry-After. */
const ASKS_AGAIN_MS = 60_000;

/**
 * Sends a request that was delayed on its way. The client has stopped waiting for the answer, so it does not repeat the
 * request. The content of the request is from the time of its sending. Newer requests may run at the same time.
 */
async function requestLate(cloud: Cloud, happening: DirectoryHappening, token: ScimToken): Promise<void> {
  const request = scimRequestOf(happening, cloud.directory.idOf);
  await cloud.time.sleep(happening.way.lateMs);
  if (request === undefined || request.creates !== undefined || cloud.isOver) return;
  await cloud.invoke('scim', 30_000, async ({ ports }) => {
    const handle: Handle = (one) => handleScim({ ...one, origin: 'https://scim.test' }, ports);
    const isGone = cloud.directory.isEnded(request.connection, request.path.split('/').at(-1) ?? '');
    await carryOut(cloud, request, sendWith(handle, token), token);
    cloud.runLog.fired(isGone ? 'way:scim_late_after_deletion' : 'way:scim_late');
  });
}

/** Repeats a request until the server accepts or refuses it, as identity providers do. */
export function requestByScim(
  cloud: Cloud,
  happening: DirectoryHappening,
  lanes: ScimLanes,
  token: ScimToken,
) {
  const { action, way } = happening;
  if (way.lateMs > 0) return cloud.start(requestLate(cloud, happening, token));
  const member = 'member' in action ? action.member : '';
  const about = 'group' in action ? action.group : member;
  const members = 'members' in action ? action.members : [];
  // The client sends requests about one resource one after the other. A request about a group waits for earlier
  // requests about its members. A request about a member waits for earlier requests that name the member.
  const before = Promise.all([about, `${about} named`, ...members].map((one) => lanes.get(one)));
  const asking = before.then(async () => {
    while (!cloud.isOver) {
      let isAnswered = false;
      await cloud.invoke('scim', 30_000, async ({ ports }) => {
        const handle: Handle = (request) => handleScim({ ...request, origin: 'https://scim.test' }, ports);
        isAnswered = await requestOnce(cloud, happening, handle, token);
      });
      if (isAnswered) return;
      cloud.runLog.fired('way:scim_again');
      await cloud.time.sleep(ASKS_AGAIN_MS);
    }
  });
  lanes.set(about, asking);
  for (const one of members) lanes.set(`${one} named`, Promise.all([lanes.get(`${one} named`), asking]));
  cloud.start(asking);
}

type Handle = (request: Omit<HttpRequest, 'origin'>) => ReturnType<typeof handleScim>;

/**
 * Sends a request once. Before a POST, the client searches for the resource.
 * @returns whether the server gave a final answer (not an error that the client retries)
 */
async function requestOnce(
  cloud: Cloud,
  happening: DirectoryHappening,
  handle: Handle,
  token: ScimToken,
): Promise<boolean> {
  const { directory } = cloud;
  const send = sendWith(handle, token);
  let request = scimRequestOf(happening, directory.idOf);
  if (request?.creates !== undefined) {
    const [path = '', query = ''] = request.creates.lookUp.split('?');
    const found = (await send('GET', path, query)).body?.Resources?.[0]?.id;
    if (typeof found === 'string') {
      directory.learned(request.connection, request.creates.key, found);
      request = scimRequestOf(happening, directory.idOf);
    }
  }
  return request === undefined || carryOut(cloud, request, send, token);
}

type Send = ReturnType<typeof sendWith>;

const sendWith =
  (handle: Handle, { token }: ScimToken) =>
  async (method: string, path: string, query: string, body?: object) => {
    const { reply } = await handle({
      method,
      path: `/scim/v2${path}`,
      query,
      headers: { 'content-type': 'application/scim+json', authorization: `Bearer ${token}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const { status, headers } = reply;
    return { status, etag: headers['etag'], body: reply.body === '' ? undefined : JSON.parse(reply.body) };
  };

async function carryOut(
  cloud: Cloud,
  request: ScimRequest,
  send: Send,
  { creators }: ScimToken,
): Promise<boolean> {
  const { directory, nowMs, runLog } = cloud;
  const { connection } = request;
  // The connection was removed, but the client still sends the token of this connection.
  const wasRemoved = cloud.actions.some(
    ({ kind, done, crashed, ...action }) =>
      kind === 'remove_connection' && done && !crashed && action.connection === connection,
  );
  const askedAtMs = nowMs();
  const { status, body, etag } = await send(request.method, request.path, '', request.body);
  if (status === 429 || status >= 500) return false;
  if (status >= 300) return true;
  if (wasRemoved) {
    const sentence = `The connection ${connection} was removed. Expected its SCIM tokens to be refused, but a ${request.method} succeeded.`;
    runLog.violated({ check: 'ownership', cause: 'removed_and_served', connection, sentence });
  }
  runLog.fired('way:scim_request');
  const made = request.creates === undefined ? undefined : body?.id;
  const revision = revisionIn(etag, body);
  directory.requested(request, { atMs: nowMs(), made, revision, sentBy: creators, askedAtMs });
  return true;
}

function revisionIn(etag: string | undefined, body: { meta?: { lastModified?: string } } | undefined) {
  const [, number] = /^W\/"(\d+)/.exec(etag ?? '') ?? [];
  const modifiedMs = Date.parse(body?.meta?.lastModified ?? '');
  if (number === undefined) return undefined;
  return { ...(!Number.isNaN(modifiedMs) && { modifiedMs }), number: BigInt(number) };
}
