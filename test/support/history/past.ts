import type { GroupState } from '../../../shared/domain/group-state.ts';
import { contentOf, usersBetween } from '../../../shared/domain/history.ts';
import type { GroupRef } from '../../../shared/domain/ids.ts';
import { withGroupsBefore } from '../../../shared/operate/journal.ts';
import { changedView } from '../../../shared/plan/uncertain.ts';
import { undisturbed } from '../../../shared/sync/apply/preview.ts';
import type { ToolPorts } from '../../../shared/sync/ports/bundles.ts';
import { UNCERTAIN_MS } from '../../../shared/sync/tuning.ts';
import { type DatedStep, membersAt, stepUserOf, type Past, stepsAfter } from './replay.ts';

type PastPorts = Pick<ToolPorts, 'groups' | 'audit' | 'reader' | 'clock'>;

/**
 * Returns who was in the platform group of a directory group at each of the times, as far as groupsync can prove it.
 * After a takeover, the group that owns the platform group has the history.
 */
export const readPast = async (ref: GroupRef, times: readonly number[], ports: PastPorts) =>
  undisturbed(await ownerOf(ref, ports), ports, async (state) => {
    const { intent, uncertain } = state;
    const views = await viewsOf(state, ports);
    const steps = await readSteps(state, Math.min(...times), ports);
    // Writes without a known outcome may have changed these users.
    const open = intent === undefined ? [] : usersBetween(views.base, views.prepared).map(({ user }) => user);
    const { added = [], removed = [] } = views.uncertain ?? {};
    const sinceMs = Math.min(...[intent, uncertain?.write].map((write) => write?.atMs ?? ports.clock()));
    const present = {
      // No step has the empty id. So nothing is known if the view cannot be read.
      content: views.isUnreadable ? '' : contentOf(state),
      view: views.base,
      open: { users: [...open, ...added, ...removed], sinceMs, untilMs: ports.clock() },
    };
    return { state, pasts: times.map((atMs): Past => membersAt(atMs, present, steps)) };
  });

/** Reads the view of the link, the result of an open intent, and the users that uncertain writes may change. */
async function viewsOf({ ref, link, intent, uncertain }: GroupState, { groups }: PastPorts) {
  const base = link && (await groups.readView(ref, link.view));
  const isNew = intent?.action === 'create';
  const made = intent?.change && (isNew ? await groups.readView(ref, intent.change) : undefined);
  const change = intent?.change && !isNew ? await groups.readChange(ref, intent.change) : undefined;
  return {
    base,
    prepared: intent && (base ? changedView(base, intent, change) : made),
    uncertain: uncertain?.change && (await groups.readChange(ref, uncertain.change)),
    isUnreadable: link !== undefined && base === undefined,
  };
}

async function ownerOf(ref: GroupRef, ports: PastPorts): Promise<GroupState> {
  const state = await ports.groups.read(ref);
  if (state === undefined) throw new Error(`there is no group ${ref.group}`);
  const { movedTo, link } = state;
  return movedTo === undefined || link !== undefined ? state : ownerOf({ ...ref, group: movedTo }, ports);
}

/** Reads the steps back to the last one before this time, also those of the groups before a takeover. */
async function readSteps(
  state: GroupState,
  sinceMs: number,
  ports: PastPorts,
): Promise<readonly DatedStep[]> {
  const steps: DatedStep[] = [];
  const isReached = () => stepsAfter(sinceMs, contentOf(state), steps).last !== undefined;
  for await (const entry of entriesOf(state.ref, ports)) {
    const { step, atMs, action } = entry;
    if (atMs < sinceMs - UNCERTAIN_MS && isReached()) break;
    if (step !== undefined) steps.push({ ...step, atMs, action, users: step.users?.map(stepUserOf) });
  }
  return steps;
}

async function* entriesOf(last: GroupRef, { audit, reader }: PastPorts) {
  for (const ref of await withGroupsBefore(last, reader))
    for await (const page of audit.read(ref)) for (const entry of page) yield entry;
}
