/** Mutants that no test can detect, by reason. `npm run mutate` fails if an unlisted mutant survives. */

const REASONS: Readonly<Record<string, readonly string[]>> = {
  'with the mutant, the write stores the existing value again': [
    'shared/domain/fold.ts: if (found === undefined) folds.set(event.connection, fold); | found === undefined → true',
  ],
  'a group with a suspected change is dirty, so the mutant only stores the same change again': [
    'shared/sync/reconcile/check-groups.ts: if (isKnown && current.dirtySinceMs !== undefined && version !== null) return undefined; | !== → ===',
  ],
  'the code never compares two equal stamps here': [
    'shared/domain/register.ts: if (candidate.stamp !== current.stamp) return candidate.stamp > current.stamp; | > → >=',
    'shared/directory/reading/context.ts: return stored === undefined || (stored.value !== value && stored.stamp < stamp); | < → <=',
  ],
  'parts with equal stamps may be in any order': [
    'shared/domain/fold.ts: const newestFirst = [...parts].sort((a, b) => Number(a.stamp < b.stamp) - Number(a.stamp > b.stamp)); | < → <=',
    'shared/domain/fold.ts: const newestFirst = [...parts].sort((a, b) => Number(a.stamp < b.stamp) - Number(a.stamp > b.stamp)); | > → >=',
  ],
  'the mutant changes only milliseconds, which are cut off or do not change the day': [
    'shared/domain/stamp.ts: const local = new Date(0); | 0 → 1',
    'shared/domain/stamp.ts: const lastDay = new Date(0); | 0 → 1',
  ],
  'multiplying and dividing by 1 or -1 give the same result': [
    "shared/domain/stamp.ts: const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * MINUTE_MS * (sign === '-' ? -1 : 1); | * → /",
  ],
  'the only caller tests whether the value is truthy, and both values are falsy': [
    'shared/directory/operate/takeover.ts: if (state.released) return false; | return false; → return undefined;',
    'shared/domain/stamp.ts: if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 60) return false; | return false; → return undefined;',
    'shared/plan/notice.ts: if (isRecent(episode, nowMs)) return false; | return false; → return undefined;',
    'shared/operate/dead-letters/read-mailbox.ts: if (elsewhere <= 0 || patience <= 0) return false; | return false; → return undefined;',
    'shared/sync/people-wake.ts: if (record.userId === undefined || !mayBeMember(record, settings)) return false; | return false; → return undefined;',
  ],
  'the parser ignores digits after the milliseconds': [
    `shared/domain/stamp.ts: return Date.parse(\`\${stamp.slice(0, 23)}Z\`); | 23 → 24`,
  ],
  'if two stamps are equal, it makes no difference which stamp is returned': [
    'shared/domain/stamp.ts: export const laterStamp = (a: Stamp, b: Stamp): Stamp => (a < b ? b : a); | < → <=',
  ],
  'only the sign of this number has an effect': [
    'shared/scim/server/list.ts: return read.toSorted((a, b) => (a.id < b.id ? -1 : 1)); | 1 → 2',
    'shared/operate/settings.ts: return rows.sort((a, b) => (a.name < b.name ? -1 : 1)); | 1 → 2',
  ],
  'no test should depend on a single millisecond': [
    'shared/directory/reading/sync-group.ts: const isDeleted = isDeletion && atMs > (known.readMs ?? 0); | > → >=',
    'shared/scim/tokens/tokens.ts: if ((found.lastUsedMs ?? 0) < nowMs - NOTED_EVERY_MS) { | < → <=',
    "shared/store/group-writes.ts: const over = page.filter(({ expiresAt }) => typeof expiresAt === 'number' && expiresAt * 1_000 < nowMs); | < → <=",
    'shared/scim/server/limiter.ts: const passed = Math.max(0, nowMs - bucket.atMs) / 1_000; | 0 → 1',
    'shared/sync/reconcile/sweep.ts: const wasThere = ({ link: { createdAtMs = 0 }, lastWriteAtMs = 0 }: Watched[number]) => | 0 → 1',
    'shared/domain/wake-up.ts: Math.min(coalesceMs, Math.max(0, (lastWriteAtMs ?? 0) + coalesceMs - nowMs)); | 0 → 1',
    'shared/domain/wake-up.ts: return wakeAtMs > latestMs(moment) || moment.nowMs < windowEndMs - CLOCKS_APART_MS; | > → >=',
    'shared/plan/decide/index.ts: const isAgain = before !== undefined && nowMs - before.atMs >= READS_BEHIND_MS; | >= → >',
    "shared/plan/decide/write.ts: if (write?.action !== 'create' || nowMs >= untilMs) return undefined; | >= → >",
    'shared/plan/decide/missing.ts: if (nowMs - createdAtMs < createSettleMs) return notShownYet(facts); | < → <=',
    "shared/plan/decide/drift.ts: return waitMs > 0 ? { kind: 'wait', waitMs, why: UNPROVEN_READ } : undefined; | 0 → 1",
    'shared/sync/reconcile/notify.ts: revokedMs === undefined && expiresMs > nowMs && expiresMs <= nowMs + EXPIRES_SOON_MS, | > → >=',
    'shared/sync/match/changed-members.ts: return isQuiet && isPlain && !isBisecting && nowMs >= (flapDamping?.sinceMs ?? 0) + TWO_HOURS_MS; | >= → >',
    'shared/sync/reconcile/feed.ts: nowMs - start.readAtMs > LOOK_BACK_MS | > → >=',
    'shared/sync/people-listing.ts: if (waiting.length === 0 || ports.clock() - waitingSinceMs < ROLE_END_WAIT_MS) return; | < → <=',
    'shared/store/guard-store.ts: writtenAtMs = 0, | 0 → 1',
  ],
  'apply always reads both values together': [
    "shared/plan/decide/write.ts: if (wanted === undefined || views === undefined) return { kind: 'read', what: ['wanted', 'views'] }; | || → &&",
  ],
  'a view with alias undefined is stored and compared like a view without it': [
    'shared/plan/draft.ts: return alias === undefined ? { name } : { name, alias }; | alias === undefined → false',
    'shared/plan/external-change.ts: ...(alias === undefined ? {} : { alias }), | alias === undefined → false',
  ],
  'the view already contains the wanted name': [
    "shared/plan/draft.ts: if (!fieldMatches(current, 'name', wanted.name)) return { name: wanted.name }; | return { name: wanted.name }; → return undefined;",
  ],
  'every caller reads the views before the call': [
    "shared/plan/decide/drift.ts: if (facts.views === undefined) return { kind: 'read', what: ['views'] }; | facts.views === undefined → false",
    "shared/plan/decide/drift.ts: if (facts.views === undefined) return { kind: 'read', what: ['views'] }; | return { kind: 'read', what: ['views'] }; → return undefined;",
  ],
  'a part that leaves the window was counted when it entered': [
    'shared/domain/fold.ts: const left = (inWindow.get(newest.index) ?? 0) - 1; | 0 → 1',
  ],
  'for a deletion, both values are undefined': [
    'shared/plan/answer.ts: if (observed === undefined || after === undefined) { | || → &&',
    'shared/plan/answer.ts: if (observed === undefined || made === undefined || plan.after === undefined) return outcome; | || → &&',
  ],
  'an undefined value is stored like a missing one': [
    'shared/directory/reading/sync-group.ts: const owned = known.other === undefined ? { ...next, name } : { ...next, name, other: known.other }; | known.other === undefined → false',
    'shared/operate/journal.ts: ...(group === undefined ? {} : { group }), | group === undefined → false',
    'shared/plan/notice.ts: const tried = triedMs === undefined ? {} : { triedMs }; | triedMs === undefined → false',
    'shared/sync/people-listing.ts: ...(userId === undefined ? {} : { userId }), | userId === undefined → false',
    'shared/sync/gate.ts: ...(witness === undefined ? {} : { witness }), | witness === undefined → false',
  ],
  'the number is a size, of which no behaviour depends on the exact value': [
    "shared/directory/reading/key-digest.ts: createHash('sha256').update(key).digest('base64url').slice(0, 16); | 0 → 1",
    'shared/scim/server/handle.ts: hashOf(String(value).toLowerCase()).slice(0, HASH_LENGTH); | 0 → 1',
    'shared/directory/reading/member-questions.ts: const MOST_PER_RUN = 1_000; | 1_000 → 2000',
    'shared/scim/store/scim-orders.ts: const MAX_CHANGES = 1_000; | 1_000 → 2000',
    'shared/scim/protocol/limits.ts: export const MAX_MEMBERS_CHANGED = 20_000; | 20_000 → 40000',
    'shared/scim/server/record.ts: for (let race = 0; race < MAX_RACES; race += 1) { | 1 → 2',
    'shared/operate/names.ts: if (text.length <= REASON_SHOWN) return withoutCutJson(text); | <= → <',
    'shared/operate/import/compare.ts: if (found[kind] <= LISTED) found.changes.push({ kind, group, groupName, member, email, ...about }); | <= → <',
    'shared/directory/reading/listing.ts: const MAX_NAMED = 1_000; | 1_000 → 2000',
    'shared/scim/protocol/document.ts: const MAX_DESCRIBED_MEMBERS = 1_000; | 1_000 → 2000',
    'shared/scim/store/scim-store.ts: const MAX_REMOVALS = 100; | 100 → 101',
    'shared/scim/server/list.ts: if (bytes > MAX_ANSWER_BYTES && shown.length > 0) return shown; | > → >=',
    'shared/operate/names.ts: const REASON_SHOWN = 160; | 160 → 161',
    'shared/operate/person.ts: const AT_ONCE = 8; | 8 → 9',
    "shared/sync/reconcile/check-groups.ts: const recordId = createHash('sha256').update(parts).digest('hex').slice(0, 32); | .slice(0, 32) → ",
    `shared/operate/events.ts: const place = { time, id: \`\${id}.\${String(block).padStart(9, '0')}\`, source: '', operation }; | 9 → 10`,
    'shared/sync/apply/bisect.ts: return { bisection: { ...bisection, withheld: later, refusals: refusals + 1 } }; | 1 → 2',
    'shared/store/keys.ts: const MAX_PART_BYTES = 400; | 400 → 401',
    'shared/domain/content-digest.ts: let [high, low] = [0xdeadbeef, 0x41c6ce57]; | 0xdeadbeef → 7471857118',
    'shared/store/view-store.ts: const HEADS_REMEMBERED = 200; | 200 → 201',
    `shared/store/keys.ts: ofGroup(ref, \`\${prefix}\${part.index}#\${sha256(part.stamp).slice(0, 32)}\`); | 32 → 33`,
    "shared/sync/apply/failure.ts: const digest = createHash('sha256').update(JSON.stringify(failure)).digest('hex').slice(0, 32); | 32 → 33",
    "shared/sync/apply/failure.ts: const digest = createHash('sha256').update(JSON.stringify(failure)).digest('hex').slice(0, 32); | .slice(0, 32) → ",
    'shared/store/view-store.ts: const INLINE_VIEW_BYTES = 1_024; | 1_024 → 2048',
    'shared/store/audit-reader.ts: const PAGE_SIZE = 100; | 100 → 101',
    'shared/plan/gone.ts: export const LISTING_AGE_MS = 60_000; | 60_000 → 120000',
    "shared/sync/ingest/store-fold.ts: return createHash('sha256').update(content).digest('base64url').slice(0, 12); | 0 → 1",
    'shared/store/user-store.ts: Buffer.byteLength(name) + Buffer.byteLength(register.value) > MAX_ATTRIBUTE_BYTES | > → >=',
  ],
  'the mutant requests other groups earlier or later, and each group is requested when it is needed': [
    'shared/directory/operate/through-function.ts: const following = place === -1 || from > 0 ? [] : order.slice(place + 1, place + GROUPS_AT_ONCE); | 1 → 2',
  ],
  'with the mutant, the same data is read again, or data without a match is read too': [
    'shared/operate/find-member.ts: const contained = (await groups.readMany(refs, () => {})).filter(({ isContained }) => isContained); | .filter(({ isContained }) => isContained) → ',
    'shared/scim/server/routes.ts: hasMembers ? readFloor({ connection, group: groupId(id) }, ports) : undefined, | hasMembers → false',
    'shared/scim/server/nesting.ts: id.startsWith(GROUP_ID_MARK) ? [memberId(id), nestedMember(groupId(id))] : [memberId(id)]; | id.startsWith(GROUP_ID_MARK) → true',
    'shared/directory/reading/reports.ts: for (const report of users) left.delete(report); | left.delete(report); → ;',
    'shared/store/delivery-store.ts: for (let dayMs = nowMs + 60_000; dayMs > firstMs - DAY_MS; dayMs -= DAY_MS) | > → >=',
    'shared/scim/server/list.ts: const gone = deleting.filter((one) => !found.some(({ id }) => id === one)); | !found.some(({ id }) => id === one) → found.some(({ id }) => id === one)',
    'shared/sync/reconcile/sweep.ts: startedAtMs - lastWriteAtMs < READS_BEHIND_MS | - → +',
  ],
  'the condition of the write keeps every other item, and a second removal finds nothing': [
    "shared/store/group-writes.ts: const over = page.filter(({ expiresAt }) => typeof expiresAt === 'number' && expiresAt * 1_000 < nowMs); | .filter(({ expiresAt }) => typeof expiresAt === 'number' &&  → ",
    "shared/scim/store/scim-store.ts: if ((await table.update(key, change, equal('revision', revision))).written) return; | (await table.update(key, change, equal('revision', revision) → false",
    'shared/store/people-store.ts: const outdated = [...keysOf(seen)].filter(([partition]) => !pointers.has(partition)); | .filter(([partition]) => !pointers.has(partition)) → ',
    "shared/store/group-writes.ts: const over = page.filter(({ expiresAt }) => typeof expiresAt === 'number' && expiresAt * 1_000 < nowMs); | && → ||",
  ],
  'while a deletion is open, decide only observes that the group is gone': [
    "shared/sync/apply/write.ts: const isGone = decision.kind === 'observe' && decision.observed === 'gone'; | && → ||",
  ],
  'the mutant changes only how long the next attempt waits': [
    'shared/sync/apply/apply.ts: if (isExternallyChanged && attempts > 0) return putOff(CHANGED_DURING_WRITE); | > → >=',
  ],
  'the map has no entry for null': [
    'shared/operate/held-members.ts: const person = member === null ? undefined : known.get(member); | member === null → false',
  ],
  'each cause that names an event is stored with the time of the event': [
    'shared/operate/log.ts: return { id, at: eventMs === undefined ? null : new Date(eventMs).toISOString() }; | eventMs === undefined → false',
  ],
  'the number is always assigned before it is returned': [
    'shared/store/user-store.ts: let count = 0; | 0 → 1',
  ],
  'the case cannot occur, and the types require it': [
    'shared/store/group-notes.ts: if (previousLink === undefined) return Promise.resolve(false); | false → true',
    'shared/sync/apply/observe.ts: if (link === undefined) return AGAIN; | return AGAIN; → return undefined;',
    'shared/store/group-store.ts: if (ref === undefined) return []; | return []; → return undefined;',
    'shared/plan/decide/holds.ts: views?.base === undefined ? 0 : withUnwanted(views.base, wanted?.group?.users).users.size; | 0 → 1',
  ],
  'with the mutant, the same result needs more or fewer requests': [
    "shared/sync/match/wanted.ts: if (resolution?.kind !== 'person' || resolution.unbound || user.revision === 0) return; | resolution?.kind !== 'person' || resolution.unbound || user. → true",
    "shared/sync/match/wanted.ts: if (resolution?.kind !== 'person' || resolution.unbound || user.revision === 0) return; | 0 → 1",
    'shared/sync/tuning.ts: export const LARGE_GROUP = 1_000; | 1_000 → 2000',
    'shared/sync/match/wanted.ts: const excludesPeople = ({ settings }: Connection): boolean => settings.people.exclude.length > 0; | > → >=',
    'shared/sync/tuning.ts: export const OWN_MESSAGE_MS = 600_000; | 600_000 → 1200000',
    'shared/sync/match/wanted.ts: roles.every((role) => persons.has(role)) ? persons : people.read(name, roles); | roles.every((role) => persons.has(role)) → false',
    'shared/store/view-store.ts: if (Buffer.byteLength(text) <= inlineViewBytes) return { id, size: lines.length, text }; | Buffer.byteLength(text) <= inlineViewBytes → false',
    "shared/store/logs.ts: if (ref.group !== '' && users.length <= MAX_STEP_USERS) return { ...others, users }; | ref.group !== '' && users.length <= MAX_STEP_USERS → false",
    'shared/store/user-store.ts: const revision = before.revision + (needsFanOut ? 1 : 0); | needsFanOut → true',
    'shared/sync/unmanaged.ts: if (groups.length === 0) return []; | groups.length === 0 → false',
    'shared/sync/apply/pass.ts: const maxAttempts = attempts > 0 ? 1 : MAX_TRIES; | 0 → 1',
  ],
  'a later condition also compares the time of the user': [
    'shared/sync/match/wanted.ts: const present = registers.filter((register) => memberCounts(register, floor, STAMP_ZERO)); | .filter((register) => memberCounts(register, floor, STAMP_ZE → ',
  ],
  'without blocked people, both give the same result': [
    'shared/sync/match/wanted.ts: if (blocks === undefined) return { resolutions, whyNot }; | blocks === undefined → false',
  ],
  'a test in test/functions or an integration test notices it, and the runner leaves these out': [
    'shared/sync/ingest/ingest.ts: if (only === undefined || cause === undefined) return []; | === → !==',
    "shared/sync/ingest/origins.ts: if ('group' in change) note(groups, change.group, messageId); | note(groups, change.group, messageId); → ;",
    'shared/sync/ingest/accept.ts: if (this.causes.at(-1) !== cause) this.causes.push(cause); | 1 → 2',
    'shared/sync/ingest/ingest.ts: Number(isLate(b)) - Number(isLate(a)) || lengthOf(a) - lengthOf(b) || urgency(b) - urgency(a); | - → +',
    'shared/sync/ingest/origins.ts: if (known === undefined) messagesById.set(id, new Set([messageId])); | known === undefined → true',
    'shared/sync/ingest/store-fold.ts: const isFew = named.length > 0 && named.length + groups.length <= RECALLED; | <= → >',
    'shared/store/dynamo-batches.ts: unanswered.set(args.input, !isAnswered(error)); | !isAnswered(error) → isAnswered(error)',
    'shared/store/dynamo-batches.ts: if (isUnanswered === undefined) return next(args); | isUnanswered === undefined → false',
    'shared/directory/reading/delivery.ts: if (counts.length === 0 && error === undefined) return undefined; | counts.length === 0 && error === undefined → true',
    'shared/scim/server/handle.ts: return { reply, connection: undefined, deliveries: [], staleMembers: [], cause: undefined }; | return { reply, connection: undefined, deliveries: [], stale → return undefined;',
    "shared/scim/server/handle.ts: return new TextDecoder('utf-8', { fatal: true }).decode(bytes); | return new TextDecoder('utf-8', { fatal: true }).decode(byte → return undefined;",
  ],
  'changed-members.property.test.ts notices it, but the run is over before this slow test': [
    'shared/sync/match/changed-members.ts: const isNext = link !== undefined && inSync?.rev === rev - 1 && inSync.view === link.view.id; | === → !==',
    "shared/sync/match/changed-members.ts: mode !== 'report' && | !== → ===",
  ],
  'two groups of a connection never have the same id': [
    'shared/directory/operate/status.ts: return rows.toSorted((a, b) => rankOf(a) - rankOf(b) || (a.group < b.group ? -1 : 1)); | < → <=',
  ],
  'after the claim, the next check refuses the request with the same error, and gives the claim back': [
    'shared/scim/server/claims.ts: if (!isFree) throw uniquenessError(value.type, holder); | !isFree → false',
  ],
  'only ids that are not of live users are looked up in this set': [
    "shared/scim/server/membership.ts: const deleting = new Set(found.filter(({ state }) => state === 'deleting').map(({ id }) => id)); | .filter(({ state }) => state === 'deleting') → ",
  ],
  'the mutant only copies the answer once more': [
    'shared/scim/protocol/projection.ts: if (without.length === 0) return chosen; | without.length === 0 → false',
  ],
  'with the mutant, the whole list is stored instead of its difference': [
    'shared/scim/server/membership.ts: const left = [...listed].filter((id) => !present.has(id)); | .filter((id) => !present.has(id)) → ',
  ],
  'the tests of connect notice it, but the runner replaces no object that another module has stored': [
    'shared/directory/operate/guides/google.ts: if (administrator === undefined || !hasOneCredential) return undefined; | !hasOneCredential → hasOneCredential',
    'shared/directory/operate/guides/okta.ts: : !secretStdin && (key === undefined) !== (keyArn === undefined); | !secretStdin → secretStdin',
    "shared/directory/operate/guides/entra.ts: if (reason === 'InvalidAuthenticationToken') return fixOfCloud(setting); | === → !==",
  ],
  'test/store/semantics.integration.test.ts notices it, and the runner leaves out integration tests': [
    'shared/store/dynamo-table.ts: ...(this.#names.size === 0 ? {} : { ExpressionAttributeNames: swapped(this.#names) }), | this.#names.size === 0 → false',
    'shared/store/dynamo-table.ts: ...(this.#names.size === 0 ? {} : { ExpressionAttributeNames: swapped(this.#names) }), | 0 → 1',
    'shared/store/dynamo-table.ts: ...(this.#names.size === 0 ? {} : { ExpressionAttributeNames: swapped(this.#names) }), | this.#names.size === 0 → true',
    'shared/store/dynamo-table.ts: ...(this.#values.size === 0 | this.#values.size === 0 → true',
    'shared/store/dynamo-table.ts: return { ...(change && { UpdateExpression }), ConditionExpression, ...expression.names() }; | && → ||',
    'shared/store/dynamo-table.ts: const { index = false, partition, prefix, between, newestFirst = false, pageSize, only } = request; | false → true',
  ],
};

export const SURVIVORS: ReadonlyMap<string, string> = new Map(
  Object.entries(REASONS).flatMap(([reason, lines]) => lines.map((line) => [line, reason] as const)),
);
