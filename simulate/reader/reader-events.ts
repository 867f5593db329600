import { type DirectoryEvent, NATIVE_KINDS } from '../messages.ts';

/** The sources of the events of a reader, and of imports and undos, copied so that the checks notice a wrong value. */
export const READER = 'groupsync/directory';
export const IMPORT_SOURCES: readonly string[] = ['groupsync/import', 'groupsync/undo'];

/** Returns whether a message is from a reader. */
export const isOfReader = (body: string): boolean => body.includes(`"source":"${READER}"`);

interface Sent {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly data: {
    readonly group?: { readonly id: string; readonly name?: string };
    readonly members?: readonly { readonly id: string; readonly email?: string }[];
    readonly part?: DirectoryEvent['part'];
    readonly user?: { readonly id: string; readonly email?: string; readonly 'scim:active'?: string };
  };
}

/** Returns the events of this source in a message that the engine sends to itself. */
export function ownEvents(body: string, own: readonly string[] = [READER]): readonly DirectoryEvent[] {
  const parsed = [JSON.parse(body) as Sent | readonly Sent[]].flat() as readonly Sent[];
  return parsed.flatMap(
    ({ source, type, time, id, data: { group, members, user, part } = {} }): DirectoryEvent[] => {
      const kind = NATIVE_KINDS.get(type);
      if (!own.includes(source) || kind === undefined) return [];
      const order = { time, id, source };
      if (user === undefined) {
        return [
          {
            kind,
            ...(group && { group: group.id, name: group.name ?? null }),
            ...(members && { members }),
            ...(part && { part }),
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
