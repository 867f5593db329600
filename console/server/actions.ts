import pMap from 'p-map';
import * as z from 'zod';
import { SettingRequestRow } from '../../shared/contract/answers/status.ts';
import { applySetting } from '../../shared/contract/change-setting.ts';
import { weakenedSettings, weakensSafety } from '../../shared/contract/weakening.ts';
import type { Gate } from '../../shared/domain/gate.ts';
import { type GroupRef, groupId, memberId, platformUserId, roleId } from '../../shared/domain/ids.ts';
import { adoptShown } from '../../shared/operate/adopt-shown.ts';
import { blockPerson, groupsOfBlocked, unblockPerson } from '../../shared/operate/block.ts';
import { endSessions } from '../../shared/operate/console-sessions.ts';
import { discardDeadLetters, problemsOf, sendAmended } from '../../shared/operate/dead-letters/amend.ts';
import { replayDeadLetters } from '../../shared/operate/dead-letters/replay.ts';
import { surveyDeadLetters } from '../../shared/operate/dead-letters/survey.ts';
import { syncGroups } from '../../shared/operate/follow.ts';
import { forgetMember } from '../../shared/operate/forget.ts';
import { recordRead } from '../../shared/operate/journal.ts';
import { allGroups, NotFound } from '../../shared/operate/names.ts';
import { createNamesake, releaseGroup } from '../../shared/operate/ownership.ts';
import { pauseConnection, pauseGroup, resumeConnection, resumeGroup } from '../../shared/operate/pausing.ts';
import { type Planning, planningWith, refreshPeopleNow } from '../../shared/operate/people-now.ts';
import { previewAdoptions } from '../../shared/operate/platform-groups.ts';
import { rebindMember } from '../../shared/operate/rebind.ts';
import {
  countsOfEffect,
  effectsOf,
  type GroupEffect,
  membersNamed,
  sumOf,
} from '../../shared/operate/setting-effect.ts';
import {
  changeSettings,
  planSettings,
  requireConnection,
  type SettingsPlan,
} from '../../shared/operate/settings.ts';
import { blockRow } from '../../shared/operate/who.ts';
import { issueToken, withdrawToken } from '../../shared/scim/operate/tokens.ts';
import { planGroup } from '../../shared/sync/apply/plan-group.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import { acknowledge, MAX_HIDDEN_DAYS } from './acknowledgements.ts';
import type { RequestContext } from './context.ts';
import { BOTH_QUEUES } from './session.ts';

/**
 * The action was not done, or only in part, because of the current state. For example, another operator has changed the
 * object.
 */
class Changed extends Error {
  override readonly name = 'Changed';
}

const text = z.string().max(100_000);
const reason = z.string().trim().min(1, 'expected a reason').max(1_000);
/** A list in a request. A longer list could take more time than one request has. */
const listOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item).min(1).max(1_000, 'expected at most 1000 entries in a list; send several requests');
const groups = listOf(text);
const pairs = listOf(z.object({ group: text, platformId: text, digest: text.nullish() }));
/** `before` is the value that the page showed. */
const change = z.object({ key: text, value: z.unknown(), before: z.unknown().optional() });
const settings = z.object({ changes: listOf(change) });
/** The connection as the page showed it, to detect changes by other operators. */
const seen = z.object({ gate: text, since: text.nullish(), reason: text.nullish(), observing: z.boolean() });

interface Action {
  readonly input: z.ZodType;
  readonly act: (input: never, context: RequestContext) => Promise<unknown>;
}
const action = <Input extends z.ZodType>(
  input: Input,
  act: (input: z.infer<Input>, context: RequestContext) => Promise<unknown>,
): Action => ({ input, act });

const refOf = (group: string, { connection }: RequestContext) => ({ connection, group: groupId(group) });
const refs = (ids: readonly string[], context: RequestContext) => ids.map((group) => refOf(group, context));

/** Acts on each group, also after another group failed. The error names the groups that failed. */
async function actOnEach(
  ids: readonly string[],
  context: RequestContext,
  act: (ref: GroupRef) => Promise<unknown>,
): Promise<void> {
  const failed: string[] = [];
  for (const ref of refs(ids, context))
    await act(ref).catch((error: Error) => {
      if (ids.length === 1) throw error;
      failed.push(`${ref.group}: ${error.message}`);
    });
  if (failed.length > 0)
    throw new Changed(`${failed.length} of ${ids.length} not done:\n${failed.join('\n')}`);
}

const decision = z.object({ group: text, digest: text, reason, users: groups.optional() });

const decide = (isApproved: boolean) =>
  action(decision, async ({ group, digest, reason, users }, context) => {
    const { isAdministrator, ports } = context;
    const request = { reason, digest, isAdministrator };
    const chosen = users === undefined ? {} : { users: users.map(platformUserId) };
    const outcome = await ports.decisions.hold({ ...refOf(group, context), isApproved, ...chosen, request });
    if (outcome.kind === 'decided') return { digest };
    throw new Changed(outcome.kind === 'all_or_none' ? ALL_OR_NONE : DECIDED_SINCE);
  });

const DECIDED_SINCE = 'nothing was changed: the hold was decided or changed since this page loaded';
const ALL_OR_NONE =
  'nothing was changed: the directory deleted the group, so only all removals can be decided together';

/** The actions of the page, by the last part of the path. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  approve: decide(true),
  reject: decide(false),
  pause: action(z.object({ groups, reason }), async ({ groups, reason }, context) => {
    const paused: string[] = [];
    await actOnEach(groups, context, async (ref) => {
      const was = await context.ports.groups.read(ref);
      const isRunning = was !== undefined && was.pausedAtMs === undefined;
      if ((await pauseGroup(ref, context.ports, reason)) && isRunning) paused.push(ref.group);
    });
    return { paused };
  }),
  resume: action(
    z.object({ groups: groups.min(0), seenMs: z.number().nullish() }),
    ({ groups, seenMs }, context) =>
      actOnEach(groups, context, (ref) => resumeGroup(ref, context.ports, seenMs)),
  ),
  'pause-all': action(z.object({ reason }), ({ reason }, { connection, ports }) =>
    pauseConnection(connection, reason, ports),
  ),
  'resume-all': action(z.object({ seen: seen.optional() }), ({ seen }, { connection, ports }) => {
    const { gate: state, since, reason, observing = false } = seen ?? {};
    const gate = { state, reason, sinceMs: Date.parse(since ?? '') } as Gate;
    return resumeConnection(connection, ports, seen && { gate, observing });
  }),
  acknowledge: action(
    z.object({ item: text, version: text.nullable(), days: z.int().min(0).max(MAX_HIDDEN_DAYS) }),
    ({ item, version, days }, { connection, ports }) =>
      acknowledge(
        connection,
        { item, version, untilMs: days === 0 ? undefined : ports.clock() + days * 86_400_000 },
        ports,
      ),
  ),
  sync: action(z.object({ groups }), ({ groups }, context) =>
    syncGroups(refs(groups, context), context.ports, { timeoutMs: 0 }),
  ),
  'preview-adoptions': action(z.object({ pairs }), async ({ pairs }, { connection, ports }) => ({
    adoptions: await previewAdoptions(await requireConnection(connection, ports), pairs, ports),
  })),
  adopt: action(z.object({ pairs, reason: reason.optional() }), async ({ pairs, reason }, context) => {
    const connection = await requireConnection(context.connection, context.ports);
    const adoptions = await adoptShown(connection, { pairs, reason }, context.ports);
    const failed = adoptions.flatMap(({ platformId, outcome: { kind }, isApproved }) => {
      if (kind !== 'adopted') return `${platformId}: ${kind.replaceAll('_', ' ')}`;
      return isApproved ? [] : `${platformId}: adopted, but its removals still wait`;
    });
    if (failed.length > 0)
      throw new Changed(`${failed.length} of ${pairs.length} not done:\n${failed.join('\n')}`);
  }),
  'create-namesake': action(z.object({ group: text }), async ({ group }, context) => {
    if (!(await createNamesake(refOf(group, context), context.ports)))
      throw new Changed('the group does not wait because of its name any more');
  }),
  release: action(z.object({ group: text }), ({ group }, context) =>
    releaseGroup(refOf(group, context), context.ports),
  ),
  rebind: action(z.object({ member: text, role: text }), async ({ member, role }, context) => {
    const who = { member: memberId(member), role: roleId(role) };
    if ((await rebindMember(context.connection, who, context.ports)) === undefined)
      throw new NotFound(
        `employee ${role} is unknown. To read the employees again, run: groupsync people refresh`,
      );
  }),
  block: action(z.object({ person: text, reason }), async ({ person, reason }, { connection, ports }) => {
    const { outcome, block } = await blockPerson(connection, { text: person, reason }, ports);
    const found = await groupsOfBlocked(block, await requireConnection(connection, ports), ports);
    const groups = found.map(({ ref: _, ...row }) => row);
    return { outcome, block: blockRow(block), groups };
  }),
  unblock: action(
    z.object({ person: text, reason: reason.optional() }),
    async ({ person, reason }, { connection, ports }) =>
      (await unblockPerson(connection, { text: person, reason }, ports)).outcome,
  ),
  forget: action(z.object({ member: text }), ({ member }, { connection, ports }) =>
    forgetMember(connection, memberId(member), ports),
  ),
  'preview-settings': action(settings, previewSettings),
  settings: action(settings, async ({ changes }, { connection, ports, requireRole }) => {
    const plan = await planSettings(connection, changes, ports);
    if (weakensSafety(plan.connection.settings, plan.next)) requireRole('administrator');
    let { settings: shown } = plan.connection;
    for (const { key, before } of changes) if (before !== undefined) shown = applySetting(shown, key, before);
    const read = { ...plan.connection, settings: shown };
    const done = await changeSettings({ ...plan, connection: read }, ports);
    if (plan.needsPeople) await refreshPeopleNow(connection, ports);
    return done;
  }),
  'decide-requests': action(
    z.object({ isConfirmed: z.boolean(), shown: listOf(SettingRequestRow) }),
    (decision, { connection, ports }) => ports.decisions.settings({ connection, ...decision }),
  ),
  validate: action(z.object({ id: text, body: text }), async ({ id, body }, context) => {
    const { message } = await context.session.known(id);
    return { problems: problemsOf(body, message, context.ports.clock()) };
  }),
  amend: action(z.object({ id: text, body: text, reason }), async ({ id, body, reason }, context) => {
    const deadLetter = await context.session.known(id);
    const problems = problemsOf(body, deadLetter.message, context.ports.clock());
    if (problems.length > 0)
      throw new Changed(`not sent: ingest would refuse the message: ${problems.join('; ')}`);
    const isSent = await context.session.inSequence(() =>
      sendAmended(deadLetter, { body, reason }, context.ports),
    );
    if (!isSent) throw new NotFound(GONE);
  }),
  discard: action(
    z.object({ ids: groups.optional(), code: text.optional(), reason }),
    ({ reason, ...selection }, { ports, session }) =>
      session.inSequence(async () => {
        if (selection.ids === undefined && selection.code === undefined) return { discarded: 0 };
        const options = { queues: BOTH_QUEUES, selection, limit: MAX_DISCARDED, patienceSeconds: 0 };
        const { messages } = await surveyDeadLetters(ports, options);
        let discarded = 0;
        for (const queue of BOTH_QUEUES) {
          const ids = new Set(messages.filter((one) => one.queue === queue).map(({ id }) => id));
          if (ids.size > 0) discarded += await discardDeadLetters(queue, ids, { reason, ports });
        }
        return { discarded };
      }),
  ),
  replay: action(z.object({ ids: groups.optional(), code: text.optional() }), async (selection, context) =>
    replay(selection, context),
  ),
  'make-token': action(
    z.object({ days: z.int().positive().max(3_660).nullable() }),
    async ({ days }, { connection, ports, requireRole }) => {
      const { settings } = await requireConnection(connection, ports);
      if (settings.fourEyes) requireRole('administrator');
      const expiresMs = days === null ? undefined : ports.clock() + days * 86_400_000;
      return { token: (await issueToken(connection, expiresMs, ports)).token };
    },
  ),
  'end-sessions': action(z.object({ whose: text }), async ({ whose }, { connection, ports }) => ({
    ended: await endSessions(connection, whose, ports),
  })),
  'revoke-token': action(z.object({ prefix: text }), ({ prefix }, { connection, ports }) =>
    withdrawToken(connection, prefix, ports),
  ),
};

const MAX_PREVIEWED = 500;
const MAX_DISCARDED = 10_000;
const GONE = 'this dead-lettered message no longer exists, or another consumer is processing it';

/** Returns the effect of changed settings. Changes that are planned without the new settings are not counted. */
export async function previewSettings({ changes }: z.infer<typeof settings>, context: RequestContext) {
  const { connection, ports } = context;
  const plan = await planSettings(connection, changes, ports);
  const all = plan.replans ? await allGroups(connection, ports) : [];
  const { changes: differences, replans, requested } = plan;
  const effects = all.length > MAX_PREVIEWED ? null : await settingsEffect(all, plan, context);
  if (effects !== null) await recordRead(connection, { what: 'plan', group: undefined }, ports);
  return {
    changes: differences,
    replans,
    /** Settings that do not change until another person confirms the change. */
    requested,
    /** Whether the change permits more removals without an approval. */
    weakens: weakenedSettings(plan.connection.settings, plan.next).length > 0,
    /** null if there are too many groups to plan them all here. */
    effects: effects && (await pMap(effects, (effect) => effectRow(effect, context), { concurrency: 8 })),
    total: sumOf(effects ?? []),
  };
}

async function settingsEffect(
  refs: readonly GroupRef[],
  plan: SettingsPlan,
  { ports }: Pick<RequestContext, 'ports'>,
) {
  const planAll = (given: Partial<Planning<ToolPorts>> = {}) =>
    pMap(refs, (ref) => planGroup(ref, given.ports ?? ports, given.settings), { concurrency: 8 });
  const before = await planAll();
  return effectsOf(before, await planAll(await planningWith(plan, plan.effective, ports)));
}

async function effectRow(effect: GroupEffect, { connection, ports, overview }: RequestContext) {
  const { group } = effect;
  const members = await membersNamed(effect, connection, ports);
  return { group, name: await overview.nameOf(group), members, ...countsOfEffect(effect) };
}

/** Progress of a replay; the last line contains the result. */
export interface ReplayProgress {
  readonly replayed: number;
  readonly failed: number;
  readonly remaining: number | null;
  /** The error that ended the replay early. */
  readonly problem?: string;
}

/**
 * Replays messages and streams the progress. If the page stops reading or the signal fires, the replay ends after the
 * current batch.
 */
function replay(
  selection: { ids?: string[] | undefined; code?: string | undefined },
  { connection, ports, signal }: RequestContext,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const cancelling = new AbortController();
  const stop = AbortSignal.any([signal, cancelling.signal]);
  return new ReadableStream({
    async start(stream) {
      const total = { replayed: 0, failed: 0, remaining: 0 };
      const sendProgress = (line: ReplayProgress) => {
        if (!cancelling.signal.aborted) stream.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      try {
        for (const queue of BOTH_QUEUES) {
          const { replayed, failed } = total;
          const report = await replayDeadLetters(queue, ports, {
            connection,
            selection,
            signal: stop,
            onProgress: (done) =>
              sendProgress({
                replayed: replayed + done.replayed,
                failed: failed + done.failed,
                remaining: null,
              }),
          });
          total.replayed += report.replayed;
          total.failed += report.failed;
          total.remaining += report.remaining;
        }
        sendProgress(total);
      } catch (error) {
        // An aborted response would look as if the operator had stopped the replay.
        sendProgress({ ...total, remaining: null, problem: (error as Error).message });
      }
      if (!cancelling.signal.aborted) stream.close();
    },
    cancel: () => cancelling.abort(),
  });
}
