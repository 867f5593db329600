import { groupExists } from '../../domain/group.ts';
import type { GroupState } from '../../domain/group-state.ts';
import { stepFrom } from '../../domain/history.ts';
import { type GroupRef, groupId, type PlatformGroupId } from '../../domain/ids.ts';
import type { ListedGroup, ObservedGroup, View } from '../../domain/view.ts';
import { addedSinceRestore } from '../../plan/decide/drift.ts';
import type { Decision } from '../../plan/decision.ts';
import { adoptedView, isOurCreation, isSameVersion } from '../../plan/external-change.ts';
import type { PassedOver } from '../../plan/facts.ts';
import { withUnknown } from '../../plan/marks.ts';
import { changeByFetch } from '../../plan/transition.ts';
import type { ApplyPorts } from '../ports/bundles.ts';
import type { Connection } from '../ports/connections.ts';
import type { Reading } from '../reading.ts';
import { retireClaim } from '../retire-claim.ts';
import { type ApplyContext, type PassFacts, type Performed, unlessSuperseded } from './context.ts';
import { linkTo, recordFound } from './external-change.ts';

/**
 * Returns the last view of an adopted platform group from its previous link. The view shows which users the directory had
 * wanted. The previous link was a link of this directory group, or of the group from which the claim was taken over.
 */
export async function readPreviousLink(
  state: Pick<GroupState, 'ref' | 'previousLink'>,
  id: PlatformGroupId,
  { connection, ports: { groups, claims } }: PreviousLinkReading,
): Promise<View | undefined> {
  const own = await previousView(state, id, groups);
  if (own !== undefined) return own;
  const previous = await claims.previousOwner(connection.company, id);
  const before = previous && (await groups.read(previous));
  return before && previousView(before, id, groups);
}

interface PreviousLinkReading {
  readonly connection: Connection;
  readonly ports: {
    readonly groups: Pick<ApplyPorts['groups'], 'read' | 'readView'>;
    readonly claims: Pick<ApplyPorts['claims'], 'previousOwner'>;
  };
}

async function previousView(
  { ref, previousLink }: Pick<GroupState, 'ref' | 'previousLink'>,
  id: PlatformGroupId,
  groups: Pick<ApplyPorts['groups'], 'readView'>,
): Promise<View | undefined> {
  const view = previousLink?.platformId === id ? await groups.readView(ref, previousLink.view) : undefined;
  // A release clears the external id, and the platform may not show that.
  return view && { ...view, spokeId: null };
}

/**
 * Claims a platform group for adoption. The claim fails if the external id of the platform group is exactly the id of
 * another directory group of the connection that has no platform group yet. An exact external id proves more than the
 * same name, or another form of the external id.
 * @returns the other directory group that prevents the adoption; undefined if the claim succeeded
 */
export async function claimAdopted(
  { id, spokeId }: ListedGroup,
  { ref }: Pick<GroupState, 'ref'>,
  { ports, claim }: Pick<Reading, 'claim'> & { readonly ports: Pick<Reading['ports'], 'groups'> },
): Promise<GroupRef | undefined> {
  if (spokeId !== null && spokeId !== ref.group) {
    const other = await ports.groups.read({ ...ref, group: groupId(spokeId) });
    const isWaiting = other && groupExists(other.registers) && !other.released && !other.link;
    if (isWaiting) return other.ref;
  }
  return claim(id as PlatformGroupId);
}

/** Claims, fetches and links the platform group. The write of the next pass sends the whole group. */
export async function adopt(
  { candidate }: Extract<Decision, { kind: 'adopt' }>,
  facts: PassFacts,
  context: ApplyContext,
): Promise<Performed> {
  const { ports, platform, connection } = context;
  const { state } = facts;
  const id = candidate.id as PlatformGroupId;
  const passOver = (why: PassedOver): Performed => ({
    facts: { ...facts, passedOver: new Map([...(facts.passedOver ?? []), [id, why]]) },
  });
  const owner = await claimAdopted(candidate, state, context);
  if (owner !== undefined) return passOver(owner);
  const observed = await platform.groups.get(id);
  if (observed === undefined) {
    await retireClaim(connection.company, id, state.ref, ports);
    return passOver('not_found');
  }
  const previousLink = await readPreviousLink(state, id, context);
  const listed = await listedAs(observed, candidate, context);
  const unknown = addedSinceRestore(facts, observed, previousLink === undefined ? [] : [previousLink]);
  const view = withUnknown(adoptedView(observed, listed, previousLink), unknown);
  const link = await linkTo(state, observed, view, context);
  const made = state.uncertain?.write;
  const isMade = made?.action === 'create' && isOurCreation(observed, made, facts.views?.created);
  const lateWrite = isMade ? made : undefined;
  const step = stepFrom(state, undefined, { link, view }, { sinceMs: lateWrite?.atMs ?? facts.nowMs });
  const audited = await recordFound({ lateWrite, step, action: 'link' }, observed, facts, context);
  return unlessSuperseded(ports.groups.storeObserved(state, changeByFetch(state, link, { audited })));
}

/**
 * Returns the group as the list shows it, to compare its users with the users in the fetched group. If the two versions
 * differ, the list is read again.
 */
async function listedAs(
  observed: ObservedGroup,
  candidate: ListedGroup,
  { platform }: Pick<ApplyContext, 'platform'>,
): Promise<ListedGroup> {
  if (isSameVersion(candidate, observed)) return candidate;
  const groups = await platform.groups.list(0);
  return groups.find(({ id }) => id === candidate.id) ?? candidate;
}
