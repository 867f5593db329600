import type { DirectoryMember, DirectoryPage } from '../../../../shared/directory/ports.ts';
import { keyCredential } from '../../../../shared/directory/vendors/google/credential.ts';
import { createGoogleDirectory } from '../../../../shared/directory/vendors/google/vendor.ts';
import { ADMIN, startGoogle } from '../../../directory-simulator/fixture.ts';
import type { Options } from '../../../directory-simulator/simulated.ts';
import { serve } from '../served.ts';

/** Starts a simulated Google directory and creates its client. */
export async function openGoogle({
  administrator = ADMIN,
  ...options
}: Options & { readonly administrator?: string } = {}) {
  const google = startGoogle(options);
  const served = await serve(google);
  const { url, world } = served;
  const key = await served.control('service-account-key', { url });
  const account = { credential: keyCredential(key), administrator, baseUrl: url };
  const directory = createGoogleDirectory(account, world);
  return { ...google, ...served, directory, account, key };
}

export async function allOf<Item>(pages: AsyncIterable<DirectoryPage<Item>>): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const { items } of pages) all.push(...items);
  return all;
}

export const describeMember = (member: DirectoryMember) => {
  if (member.kind === 'everyone') return 'everyone';
  if (member.kind === 'group') return `group ${member.id}`;
  const { attributes, isActive } = member.user;
  return `${attributes.get('email')} ${isActive ? 'on' : 'off'}`;
};
