import { type Hold, holdsOf } from '../../shared/domain/hold.ts';
import { at, atGroups, type Bug } from '../seeding.ts';

/** Bugs that groupsync had in an earlier state. */
export const FIXED_BUGS: Readonly<Record<string, Bug>> = {
  gives_up: [
    'apply marks a group as failed after twenty attempts',
    at('groups', (groups) => ({
      postpone: async (seen, how) => {
        const state = how.attempts < 20 ? undefined : await groups.read(seen.ref);
        const error = { ...how.error, code: 'retries_exhausted', reported: '' };
        if (state !== undefined && (await groups.fail(state, error, ''))) return undefined;
        return groups.postpone(seen, how);
      },
    })),
    '"writes_',
  ],
  believes_its_write: [
    'apply ignores the answer to a PATCH and stores the sent fields',
    atGroups((groups) => ({
      patch: async (id, fields, version) => ({ ...(await groups.patch(id, fields, version)), ...fields }),
    })),
    '"drops_users"',
  ],
  hold_ends: [
    'a hold without a decision counts as approved after a day',
    at('groups', (groups, ports) => ({
      read: async (ref) => {
        const state = await groups.read(ref);
        if (state?.removals === undefined) return state;
        const decision = { kind: 'approved', by: 'no-operator', reason: 'a day', atMs: ports.clock() };
        const isWaiting = (hold: Hold) =>
          hold.decision.kind === 'waiting' && ports.clock() - hold.createdAtMs >= 86_400_000;
        const sets = holdsOf(state).map((hold) => (isWaiting(hold) ? { ...hold, decision } : hold));
        return { ...state, removals: { ...state.removals, sets } } as typeof state;
      },
    })),
  ],
  dead_letters_are_cut: [
    'only the first five characters of a refused message reach the dead-letter queue',
    at('deadLetters', (deadLetters) => ({
      send: (all) =>
        deadLetters.send(all.map((deadLetter) => ({ ...deadLetter, body: deadLetter.body.slice(0, 5) }))),
    })),
    '"rubbish"',
  ],
  tokens_survive: [
    'the SCIM tokens of a removed connection stay valid',
    at('tokens', () => ({ revoke: async () => undefined as never })),
    'remove_connection.*scim_request',
  ],
  no_backoff: [
    'apply retries a failed group every two seconds',
    at('groups', (groups, ports) => ({
      postpone: (seen, how) =>
        groups.postpone(seen, { ...how, calledMs: [], retryAtMs: ports.clock() + 2_000 }),
    })),
    '"writes_',
  ],
  gone_at_once: [
    'apply treats a group as deleted after a 404, although the list shows the group',
    atGroups((groups) => {
      const gone = new Set<string>();
      const get: typeof groups.get = async (id, how) => {
        const found = await groups.get(id, how);
        if (found === undefined) gone.add(id);
        return found;
      };
      return { get, list: async (ageMs) => (await groups.list(ageMs)).filter(({ id }) => !gone.has(id)) };
    }),
    '"get_denies"',
  ],
  answers_believed: [
    'apply accepts an answer that contains another group',
    atGroups((groups) => ({
      get: async (id) => groups.get(id).then((found) => found && { ...found, id }),
      patch: async (id, ...asked) => ({ ...(await groups.patch(id, ...asked)), id }),
      put: async (id, ...asked) => ({ ...(await groups.put(id, ...asked)), id }),
    })),
    '"answers_other_group"',
  ],
  retry_after_believed: [
    'a Retry-After of more than 15 minutes closes the gate for a year',
    at('gates', (gates, { clock }) => ({
      write: (name, seen, next) => {
        const isLongest = next.state === 'backoff' && (next.untilMs ?? 0) - clock() === 900_000;
        return gates.write(name, seen, isLongest ? { ...next, untilMs: clock() + 31_536_000_000 } : next);
      },
    })),
    '"7200"',
  ],
  refused_asked_always: [
    'groupsync retries a refused credential each minute',
    at('gates', (gates, { clock }) => ({
      write: (name, seen, next) =>
        gates.write(name, seen, next.state === 'unauthorized' ? { ...next, untilMs: clock() } : next),
    })),
    '"token_revoked"',
  ],
  actions_unrecorded: [
    'actions of operators leave no audit entry',
    at('audit', (_, _ports, actor) => (actor === 'operator' ? { record: async () => 'lost' } : {})),
  ],
  names_are_free: [
    'another company may use the name of a removed connection',
    at('connections', () => ({ companyOf: async () => undefined })),
    '"remove_connection"',
  ],
};
