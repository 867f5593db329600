import type { GroupRef } from '../../domain/ids.ts';
import type { View } from '../../domain/view.ts';
import type { GroupState, GroupStore, LinkedGroup } from '../ports/groups.ts';
import type { HeldSet } from '../ports/holds.ts';
import type { ApplyPorts } from './ports.ts';

/**
 * One group of a rehearsal: read from the store the first time, and from then on as the rehearsal leaves it. What is
 * played here is what apply does to a group before it writes to the platform; the conditions of the real store hold by
 * themselves, since nobody else is on the stage.
 */
export function stageGroup(ref: GroupRef, { groups }: Pick<ApplyPorts, 'groups'>) {
  const views = new Map<string, View>();
  let current: Promise<GroupState | undefined> | undefined;
  let held: HeldSet | undefined;
  const state = () => (current ??= groups.read(ref));
  const become = (next: GroupState): true => {
    current = Promise.resolve(next);
    return true;
  };

  const played: Partial<GroupStore> = {
    read: state,
    readView: async (at, pointer) => views.get(pointer.id) ?? groups.readView(at, pointer),
    prepareView: async (_, id, view) => {
      views.set(id, view);
      return { id, chunks: 1, hash: '', size: view.users.size };
    },
    markPending: async () => {},
    absorb: async (seen, platform, found = {}) =>
      become({
        ...(platform === undefined ? unlinked(seen) : linked(seen, platform)),
        openDrift: [...seen.openDrift, ...(found.openDrift ?? [])],
        ...(found.deletionWaiver === undefined ? {} : { deletionWaiver: found.deletionWaiver }),
      }),
    openIntent: async (seen, intent) => become({ ...seen, intent }),
    dropIntent: async () => {
      const seen = await state();
      if (seen === undefined) return false;
      const { intent: _settled, ...rest } = seen;
      return become(rest);
    },
    noteMiss: async () => true,
    flip: async (_, { seen, platform, createdAtMs }) => {
      const { intent: _settled, ...rest } = seen;
      const linkedTo = platform && {
        platformId: platform.id,
        version: platform.version,
        view: platform.view,
      };
      const created = createdAtMs === undefined ? {} : { createdAtMs };
      become(linkedTo === undefined ? unlinked(rest) : { ...rest, ...linkedTo, ...created, takeOver: false });
      return { clean: false };
    },
    settle: async () => true,
    keepUnattributed: async () => {},
    hold: async (seen, hold, users) => {
      held = users;
      return become({ ...seen, hold });
    },
    dropHold: async (seen) => {
      const { hold: _over, ...rest } = seen;
      return become(rest);
    },
    readHeld: async (at, hold) => held ?? groups.readHeld(at, hold),
  };
  return { played, state, held: () => held };
}

function linked(seen: GroupState, { id, version, view }: LinkedGroup): GroupState {
  const { suspect: _answered, ...rest } = seen;
  return {
    ...rest,
    platformId: id,
    version,
    view,
    takeOver: rest.takeOver || view.id !== seen.view?.id,
  };
}

function unlinked(seen: GroupState): GroupState {
  const { suspect: _answered, platformId, version, view, createdAtMs, ...rest } = seen;
  return { ...rest, takeOver: false };
}
