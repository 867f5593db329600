import { type DirectoryEvent, NATIVE_KINDS } from '../messages.ts';

/**
 * The source of a reader's events. The value is a copy of the engine's value, so that the checks notice a wrong value
 * in the engine.
 */
export const READER = 'groupsync/directory';

/**
 * Returns whether a message is from a reader. In the simulation, readers and all other sources send to the same queue.
 */
export const isOfReader = (body: string): boolean => body.includes(`"source":"${READER}"`);

interface Sent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly data: {
    readonly group?: { readonly id: string; readonly name?: string };
    readonly members?: readonly { readonly id: string }[];
    readonly user?: { readonly id: string; readonly email?: string; readonly 'scim:active'?: string };
  };
}

/** Returns the events in a message of a reader; none for a message of another source. */
export function readerEvents(body: string): readonly DirectoryEvent[] {
  const parsed = [JSON.parse(body) as Sent | readonly Sent[]].flat() as readonly Sent[];
  return parsed.flatMap(
    ({ source, type, time, id, data: { group, members, user } = {} }): DirectoryEvent[] => {
      const kind = NATIVE_KINDS.get(type);
      if (source !== READER || kind === undefined) return [];
      const order = { time, id, source };
      if (user === undefined) {
        return [
          {
            kind,
            ...(group && { group: group.id, name: group.name ?? null }),
            ...(members && { members }),
            order,
          },
        ];
      }
      const { email, 'scim:active': active } = user;
      const isActive = active === undefined ? {} : { isActive: active === 'true' };
      return [
        { kind, members: [{ id: user.id, ...(email !== undefined && { email }), ...isActive }], order },
      ];
    },
  );
}
