import { contentDigest } from '../../domain/content-digest.ts';
import type { Intent } from '../../domain/group-state.ts';
import { stepFrom } from '../../domain/history.ts';
import type { ObservedGroup } from '../../domain/view.ts';
import { REFUSED } from '../../plan/decide/refusal.ts';
import type { Observe, ObserveExternal } from '../../plan/decision.ts';
import { changeByFetch } from '../../plan/transition.ts';
import { activityOf, attributeDrift } from '../attribute-drift.ts';
import { retireClaim } from '../retire-claim.ts';
import type { ApplyContext, PassFacts, Performed } from './context.ts';
import { AGAIN, CONFLICT, SUPERSEDED, unlessSuperseded } from './context.ts';
import { commitFound, linkTo, recordExternal, recordFound, withViews } from './external-change.ts';
import { readRecord, storeMoved } from './uncertain.ts';
import { unreserve } from './write.ts';

/**
 * Records the fetched state of the platform group.
 *
 *     the platform shows                        | apply ends
 *     ------------------------------------------|------------------------------------------------
 *     no group, and an open intent deletes it   | the intent, and the link
 *     no group                                  | the suspected change
 *     the result of the open intent             | the intent
 *     a change of another client                | the open intent or the suspected change; it records the change first
 *     the state that groupsync left             | the suspected change, or the record of an earlier 404
 */
export function observe(decision: Observe, facts: PassFacts, context: ApplyContext): Promise<Performed> {
  const { observed, intent } = decision;
  if (observed === 'gone') return observeGone(intent, facts, context);
  if (isExternal(decision)) return observeExternal(decision, facts, context);
  if (intent !== undefined) return observeOutcome({ ...decision, observed, intent }, facts, context);
  return observeUnchanged({ ...decision, observed }, facts, context);
}

const isExternal = (decision: Observe): decision is ObserveExternal => decision.external !== undefined;

async function observeGone(intent: Intent | undefined, facts: PassFacts, context: ApplyContext) {
  const { state } = facts;
  const { connection, ports } = context;
  if (intent === undefined)
    return unlessSuperseded(ports.groups.storeObserved(state, changeByFetch(state, undefined)));
  // The claim is retired before the commit, because after the commit no item refers to the claim.
  if (intent.platformId !== undefined)
    await retireClaim(connection.company, intent.platformId, state.ref, ports);
  const { views } = await withViews(facts, context);
  const step = stepFrom(state, views?.base, undefined, { sinceMs: intent.atMs });
  return unlessSuperseded(commitFound(intent, facts, context, { happened: true, step }));
}

/** Commits an open intent that took effect. The view is the current content of the group. */
async function observeOutcome(
  { observed, intent, view }: Observe & { readonly observed: ObservedGroup; readonly intent: Intent },
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { state, rejected } = facts;
  if (view === undefined) throw new Error('expected the view that the intent has made');
  const platform = await linkTo(state, observed, view, context);
  const uncertain = await storeMoved(readRecord(facts), facts, { observed, view }, context);
  // After a 503 with Retry-After, the client repeats a request. If the first request took effect, the platform refuses
  // the repeated request with a conflict. So the removals of a refused write may have happened, and this function keeps
  // their reservation.
  const next = rejected === undefined ? AGAIN : CONFLICT;
  const step = stepFrom(state, facts.views?.base, { link: platform, view }, { sinceMs: intent.atMs });
  const showing = { happened: true, platform, found: { uncertain }, step };
  return unlessSuperseded(commitFound(intent, facts, context, showing), next);
}

/**
 * Stores the group's content after an external change as its view. The change is recorded first, because the new view
 * no longer shows the difference.
 */
async function observeExternal(decision: ObserveExternal, before: PassFacts, context: ApplyContext) {
  const { observed, view, intent, external, flapDamping } = decision;
  await unreserve(before, context);
  const { state, rejected } = before;
  const recorded = await recordExternal(decision, state, context);
  if (recorded === undefined) return SUPERSEDED;
  const link = await linkTo(state, observed, view, context);
  const how = { sinceMs: before.nowMs, external: 'all' } as const;
  const step = stepFrom(state, before.views?.base, { link, view }, how);
  const explainsRefusal = state.lastError?.code === REFUSED.why.code;
  const { lateWrite } = external;
  // If an intent ends, its entry has the step.
  const isAlone = intent === undefined || lateWrite !== undefined;
  const audited = isAlone ? await recordFound({ lateWrite, step }, observed, before, context) : undefined;
  const uncertain = await storeMoved(readRecord(before), before, { observed, view }, context);
  const consumes = lateWrite && state.uncertain?.consumes;
  const found = { ...recorded, flapDamping, explainsRefusal, audited, uncertain, consumes };
  const isTaken =
    intent === undefined
      ? context.ports.groups.storeObserved(state, changeByFetch(state, link, found))
      : commitFound(intent, before, context, {
          happened: false,
          isRefused: rejected !== undefined,
          platform: link,
          found,
          step,
        });
  return unlessSuperseded(isTaken, CONFLICT);
}

/**
 * Ends the suspected change or the earlier 404, because the group is as groupsync left it. The stored digest is the
 * digest of the fetched content. With the digest of the view, which includes hidden users, the sweep would see a
 * difference each hour.
 */
async function observeUnchanged(
  { observed, flapDamping }: Observe & { readonly observed: ObservedGroup },
  { state }: PassFacts,
  { ports }: ApplyContext,
): Promise<Performed> {
  const { link } = state;
  await attributeDrift(state, activityOf(state), ports);
  if (link === undefined) return AGAIN;
  const view = { ...link.view, digest: contentDigest(observed) };
  const shown = { id: link.id, version: observed.version, view };
  return unlessSuperseded(ports.groups.storeObserved(state, changeByFetch(state, shown, { flapDamping })));
}
