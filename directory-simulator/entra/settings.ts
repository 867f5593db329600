import { REALISTIC_SETTINGS, type Settings } from '../engine/settings.ts';

/**
 * Settings that are at least as difficult as Microsoft Graph. Lists may be older than the changes that a client has
 * already seen, because they come from other replicas.
 */
export const REALISTIC_ENTRA_SETTINGS: Settings = {
  ...REALISTIC_SETTINGS,
  lagSeconds: { ...REALISTIC_SETTINGS.lagSeconds, users: 300, groups: 300, members: 900 },
};
