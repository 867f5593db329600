import { versionToken } from '../../../shared/domain/ids.ts';
import { CONNECTION, type World } from './world.ts';

/** Marks each linked group whose version differs from that of the platform as suspected, as reconcile does. */
export async function suspectChanged({ toolPorts, platform, nowMs, applyQueue }: World): Promise<boolean> {
  let found = false;
  for await (const page of toolPorts.index.all(CONNECTION)) {
    for (const { ref } of page) {
      const state = await toolPorts.groups.read(ref);
      if (state?.link === undefined) continue;
      const shown = platform.groups.get(state.link.id)?.version;
      const version = shown === undefined ? null : versionToken(shown);
      if (version === state.link.version) continue;
      const at = { nowMs: nowMs(), wakeAtMs: nowMs(), isAtOnce: true };
      const suspicion = { version, activityEvents: [], atMs: nowMs() };
      found = (await toolPorts.groups.noteSuspected(state, suspicion, at)) || found;
      await toolPorts.applyQueue.wake([ref]);
    }
  }
  return found || applyQueue.messages.length > 0;
}

/** Returns the groups that groupsync created, by spokeId. A second group has the key `<spokeId> again`. */
export function shownGroups({ platform }: World): ReadonlyMap<string, unknown> {
  const shown = new Map<string, unknown>();
  for (const { spokeId: shownId, name, users, madeBy } of platform.groups.values()) {
    const spokeId = shownId ?? 'no spokeId';
    if (madeBy !== 'us') continue;
    shown.set(shown.has(spokeId) ? `${spokeId} again` : spokeId, { name, users: [...users].sort() });
  }
  return shown;
}
