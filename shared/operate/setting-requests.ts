import type { SettingRequestRow } from '../contract/answers/status.ts';
import { differingSettings, isSame, parseSettings } from '../contract/change-setting.ts';
import { type ProtectedSetting, weakenedSettings } from '../contract/weakening.ts';
import type { Connection, SettingRequest } from '../sync/ports/connections.ts';
import type { AuditedChange } from '../sync/ports/logs.ts';

export const requestedKeys = (
  before: Connection['settings'],
  wanted: Connection['settings'],
): readonly ProtectedSetting[] => (before.fourEyes ? weakenedSettings(before, wanted) : []);

/** Returns the settings that apply until another person confirms the changes that weaken four eyes or the guard. */
export function untilConfirmed(before: Connection['settings'], wanted: Connection['settings']) {
  const kept = requestedKeys(before, wanted).map((key) => [key, before[key]] as const);
  return kept.length === 0 ? wanted : parseSettings({ ...wanted, ...Object.fromEntries(kept) });
}

/**
 * Returns the connection after a change under four eyes. A change that weakens a protected setting is stored as a
 * request, and the setting keeps its value. A request ends if its setting is changed in another way.
 */
export function withRequests(
  before: Connection,
  wanted: Connection,
  author: Pick<SettingRequest, 'by' | 'atMs'>,
): Connection {
  const weakened = requestedKeys(before.settings, wanted.settings);
  const settings = untilConfirmed(before.settings, wanted.settings);
  const changed = new Set<string>(differingSettings(before.settings, settings).map(({ key }) => key));
  const open = (before.requests ?? []).filter(
    ({ key }) => !weakened.some((one) => one === key) && !changed.has(key),
  );
  const asked = weakened.map((key) => ({ key, value: wanted.settings[key], ...author }));
  return { ...wanted, settings, requests: [...open, ...asked] };
}

export function requestsBetween(before: Connection, after: Connection): readonly AuditedChange[] {
  const known = before.requests ?? [];
  const added = (after.requests ?? []).filter((one) => !known.some((other) => isSame(one, other)));
  return rowsOf({ ...after, requests: added, blocks: [] }).map(({ key, before, after }) => ({
    kind: 'request_setting',
    before,
    after,
    reason: key,
  }));
}

export const rowsOf = ({
  settings,
  requests = [],
  blocks = [],
}: Connection): readonly SettingRequestRow[] => [
  ...requests.map(({ key, value, by, atMs }) => ({
    key,
    before: JSON.stringify((key === 'scim_token' ? undefined : settings[key]) ?? null),
    after: JSON.stringify(value),
    by,
    at: new Date(atMs).toISOString(),
  })),
  ...blocks.flatMap(({ members, roles, users, unblock }) =>
    unblock === undefined
      ? []
      : {
          key: 'unblock' as const,
          before: JSON.stringify([...members, ...roles, ...users]),
          after: JSON.stringify(null),
          by: unblock.by,
          at: new Date(unblock.atMs).toISOString(),
        },
  ),
];
