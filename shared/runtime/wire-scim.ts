import { BlockList, isIPv6 } from 'node:net';
import { createOAuthServer } from '../oauth/oauth-server.ts';
import { createRateLimiter } from '../scim/server/limiter.ts';
import { createScimStore } from '../scim/store/scim-store.ts';
import { createScimTokenStore } from '../scim/store/scim-token-store.ts';
import { createGroupStore } from '../store/group-store.ts';
import { randomHex, systemClock } from './clock.ts';
import { wireBase, wireState } from './wire.ts';

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * Returns a function that checks whether an IP address is in a list of addresses and ranges. If the list is empty,
 * every address passes. Otherwise a text that is not an IP address does not pass.
 */
export function addressFilter(ranges: readonly string[]): (address: string) => boolean {
  if (ranges.length === 0) return () => true;
  const listed = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    if (bits === undefined) listed.addAddress(address, familyOf(address));
    else listed.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => listed.check(address, familyOf(address));
}

export function wireScim() {
  const base = wireBase();
  const state = wireState(base);
  return {
    ...base,
    /** Returns whether this IP address may send requests. */
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
