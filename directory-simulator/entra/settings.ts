import { REALISTIC_SETTINGS, type Settings } from '../engine/settings.ts';

/**
 * Settings that make reading at least as difficult as with Microsoft Graph. A list can be older than a change that the
 * client has already seen, because another replica can answer.
 */
export const REALISTIC_ENTRA_SETTINGS: Settings = {
  ...REALISTIC_SETTINGS,
  lagSeconds: {
    ...REALISTIC_SETTINGS.lagSeconds,
    users: 300,
    groups: 300,
    members: 900,
    dynamicMembers: 600,
  },
};
