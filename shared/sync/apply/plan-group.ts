import { createHash } from 'node:crypto';
import type { NameClash, Plan } from '../../contract/answers/groups.ts';
import type { ConnectionSettings } from '../../contract/settings.ts';
import type { GroupState } from '../../domain/group-state.ts';
import type { Hold, RemovalSet } from '../../domain/hold.ts';
import type { GroupRef } from '../../domain/ids.ts';
import type { ObservedGroup } from '../../domain/view.ts';
import type { Decision } from '../../plan/decision.ts';
import type { Facts } from '../../plan/facts.ts';
import { limitOf } from '../../plan/guard-limit.ts';
import { clashFinder } from '../../plan/names.ts';
import { whyMoving, whyReleased } from '../../plan/release.ts';
import { UNRESTATED } from '../../plan/restore.ts';
import { STOP_NOTES, stopOf } from '../../plan/stop.ts';
import { asWanted, reportWaiting, waitingOf } from '../../plan/waiting.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { AuditedChange } from '../ports/logs.ts';
import { unmanagedOf } from '../unmanaged.ts';
import { type Preview, type PreviewPorts, previewAdoption, previewGroup, undisturbed } from './preview.ts';

/** The plan of one group: the change that apply would make if it ran now. */
export type GroupPlan = Plan & { readonly hold: Hold | null };

interface PlanPorts extends PreviewPorts {
  readonly connections: ApplyPorts['connections'];
  readonly gates: Pick<ApplyPorts['gates'], 'read'>;
}

/**
 * Returns the plan of a group for an operator. If apply may not write the group now, the note contains the reason.
 * @param settings used in place of the settings of the connection
 * @throws PlatformFailure if a read of the platform fails and the plan depends on this read. An example is a write with
 * an unknown outcome. The plan of a waiting group shows the reason of the wait instead of this error
 */
export async function planGroup(ref: GroupRef, ports: PlanPorts, settings?: ConnectionSettings) {
  const connection = await ports.connections.find(ref.connection);
  const state = await ports.groups.read(ref);
  if (connection === undefined || state === undefined)
    return planOf(ref, 'none', { note: 'there is no such group' });
  const chosen = settings === undefined ? connection : { ...connection, settings };
  const ask = (now: GroupState) => previewGroup(now, chosen, ports);
  // If the preview settles the group and did not change its state, the group's item need not be read again.
  const needsProof = ({ decision, facts }: Preview) => decision.kind !== 'settle' || facts.state !== state;
  const preview = await undisturbed(state, ports, ask, needsProof);
  const waiting = waitingFor(preview.decision) ?? waitingOf(state, ports.clock());
  if (preview.unseen !== undefined && preview.decision.kind !== 'write') {
    if (waiting === undefined) throw preview.unseen;
    const note = `the next change is unknown: ${preview.unseen.message}`;
    return planOf(ref, 'none', { note, waiting: reportWaiting(waiting) });
  }
  const clashes = await clashesOf(preview, chosen, ports);
  const plan = planFrom(ref, preview);
  const note = await noteOf(plan, state, connection, ports);
  return { ...plan, note, waiting: reportWaiting(waiting), clashes };
}

export async function planAdopted(
  state: GroupState,
  observed: ObservedGroup,
  connection: Connection,
  ports: PreviewPorts,
) {
  const preview = await previewAdoption(state, observed, connection, ports);
  const digests = stoppingSets(preview.facts).map(({ hold }) => hold.digest);
  return { ...planFrom(state.ref, preview), digests };
}

export const WRITES: ReadonlySet<string> = new Set(['create', 'patch', 'put', 'delete', 'release']);

/** Returns the note of a plan. If apply may not make the changes of the plan now, the note has the reason. */
async function noteOf(
  { action, note }: GroupPlan,
  state: GroupState,
  connection: Connection,
  { gates, clock }: Pick<PlanPorts, 'gates' | 'clock'>,
): Promise<string | null> {
  if (state.openMove !== undefined) return whyMoving(state.openMove, clock());
  if (!WRITES.has(action)) return note;
  const stop = stopOf(state, connection, await gates.read(state.ref.connection));
  if (stop === undefined) return note;
  return [STOP_NOTES[stop], ...(note === null ? [] : [note])].join('; ');
}

/** Finds the platform groups for which the group waits with `name_clash`, in the list that the decision used. */
async function clashesOf(
  { decision, facts }: Preview,
  { company }: Connection,
  ports: Pick<PreviewPorts, 'claims' | 'connections'>,
): Promise<readonly NameClash[]> {
  const { listed, wanted } = facts;
  if (decision.kind !== 'settle' || decision.as !== 'name_clash' || !listed || !wanted?.group) return [];
  const found = clashFinder(listed.groups)(wanted.group);
  const unmanaged = await unmanagedOf(found, company, ports);
  return unmanaged.map(({ id, name }) => ({ platformId: id, name }));
}

/** Returns the wait of a group that is as wanted, but whose uncertain writes may still take effect. */
const waitingFor = (decision: Decision) =>
  decision.kind === 'settle' && decision.againAtMs !== undefined
    ? { ...asWanted(decision.as), untilMs: decision.againAtMs }
    : undefined;

function planFrom(ref: GroupRef, { decision, facts, unseen }: Preview): GroupPlan {
  const { link } = facts.state;
  const hold = stoppingSets(facts)[0]?.hold ?? null;
  switch (decision.kind) {
    case 'write': {
      const { action, changes } = decision.plan;
      const held = [...decision.held].sort();
      const note = unseen === undefined ? null : `planned from the last known state: ${unseen.message}`;
      return planOf(ref, action, { changes, held, hold: held.length > 0 ? hold : null, note });
    }
    case 'release': {
      const change = { kind: 'release_group', before: link?.id ?? null, after: null };
      return planOf(ref, 'release', { changes: [{ ...change, reason: decision.reason }] });
    }
    case 'wait':
      return planOf(ref, 'none', { note: decision.why.message });
    case 'settle':
      return planSettled(ref, decision, facts);
    default:
      return planOf(ref, 'none', { note: releasedNote(facts) });
  }
}

function planSettled(
  ref: GroupRef,
  { as, failing, reported }: Extract<Decision, { kind: 'settle' }>,
  facts: Facts,
): GroupPlan {
  const { released } = facts.state;
  if (released) return planOf(ref, 'none', { note: releasedNote(facts) });
  if (as === 'name_clash') return planOf(ref, 'none', { note: NAME_CLASH });
  if (as === 'unrestated') return planOf(ref, 'none', { note: UNRESTATED });
  if (reported !== undefined) return planOf(ref, 'report', { changes: reported.changes, note: REPORTED });
  if (as !== 'held') return planOf(ref, 'none', { note: failing?.message ?? null });
  const stopping = stoppingSets(facts);
  const hold = stopping[0]?.hold;
  if (hold === undefined) return planOf(ref, 'none', {});
  const users = [...(facts.views?.base?.users.keys() ?? [])].sort();
  const changes = users.flatMap((user) => {
    const set = stopping.find((one) => one.users?.has(user));
    return set === undefined ? [] : heldChange(user, set.hold, facts);
  });
  return planOf(ref, 'hold', { changes, hold, held: changes.flatMap(({ before }) => before ?? []) });
}

const REPORTED = 'the mode of the group is report, so groupsync does not make these changes';

const NAME_CLASH =
  'the platform has an unmanaged group with this name; adopt it (groupsync adopt GROUP PLATFORM-ID), or create another group (groupsync adopt GROUP --create)';

const stoppingSets = ({ held }: Facts): readonly RemovalSet[] =>
  held?.sets.filter(({ hold }) => hold.decision.kind !== 'approved') ?? [];

const releasedNote = ({ state }: Facts): string | null => (state.released ? whyReleased(state) : null);

const heldChange = (user: string, hold: Hold, { settings }: Facts): AuditedChange => ({
  kind: 'remove_member',
  member: null,
  before: user,
  after: null,
  reason:
    hold.decision.kind === 'rejected'
      ? `${hold.decision.by} rejected the removal (${hold.decision.reason})`
      : `held by the guard until an operator approves: ${limitOf(hold, settings.guard)}`,
});

function planOf({ group }: GroupRef, action: GroupPlan['action'], known: Partial<GroupPlan>): GroupPlan {
  const plan = {
    group,
    action,
    changes: [],
    held: [],
    hold: null,
    note: null,
    waiting: null,
    clashes: [],
    ...known,
  };
  const shown = plan.changes.map(({ kind, before, after }) => [kind, before, after]);
  const content = JSON.stringify([action, shown]);
  const digest = action === 'hold' ? plan.hold?.digest : undefined;
  return { ...plan, digest: digest ?? createHash('sha256').update(content).digest('hex') };
}
