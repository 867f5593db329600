import { createOAuthServer } from '../oauth/oauth-server.ts';
import { createGroupStore } from '../store/group-store.ts';
import { createScimStore } from '../store/scim-store.ts';
import { createScimTokenStore } from '../store/scim-token-store.ts';
import type { ScimPorts } from '../sync/scim/handle.ts';
import { createRateLimiter } from '../sync/scim/limiter.ts';
import { addressFilter } from './address-filter.ts';
import { randomHex, systemClock } from './clock.ts';
import { type Base, wireBase, wireState } from './wire.ts';

export function wireScim(): Base & {
  readonly ports: ScimPorts;
  /** True if this IP address may send requests. */
  readonly admits: (address: string) => boolean;
} {
  const base = wireBase();
  const state = wireState(base);
  return {
    ...base,
    admits: addressFilter(base.config.scimAllowedIps),
    ports: {
      ...state,
      groups: createGroupStore(state.table),
      scim: createScimStore(state.table),
      tokens: createScimTokenStore(state.table),
      limiter: createRateLimiter(systemClock),
      oauth: createOAuthServer(),
      randomHex,
    },
  };
}
