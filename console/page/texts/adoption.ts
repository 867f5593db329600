import type { AdoptionPreview } from '../../answers.ts';
import { many } from './many.ts';

export const adoption = {
  tabs: 'Lists of groups',
  directory: 'Directory groups',
  platform: 'Platform groups',
  hint: 'Adopt a group to manage it: groupsync gives it the name, the id and the members of the directory group.',
  search: 'Search by name or id',
  empty: 'The platform has no groups.',
  found: (count: number) => many(count, 'group'),
  columns: { name: 'Platform group', state: 'State', users: 'Users', group: 'Directory group' },
  unnamed: 'No name',
  externalId: (id: string) => `external id ${id}`,
  by: { spokeId: 'same external id', name: 'same name' } as const,
  otherConnection: (name: string) => `connection ${name}`,
  hiddenConnection: 'another connection',
  choose: (count: number) => `${count} groups match: open one to choose`,
  chooseOther: 'matches several platform groups: open it to choose',
  selectAll: (count: number) => `Select all ${many(count, 'adoptable group')}`,
  previewTitle: (count: number) => `Preview: adopt ${many(count, 'group')}`,
  preview: (count: number) => `Preview adoption of ${many(count, 'group')}`,
  previewOne: 'Preview',
  previewOf: (name: string) => `Preview the adoption of ${name}`,
  planning: 'Planning every group …',
  becomes: (name: string, group: string) => `${name} → ${group}`,
  effect: ({ added, removed, held, renamedTo }: AdoptionPreview) => {
    const parts = [`${added} added`, `${removed} removed`];
    if (held > 0) parts.push(`${many(held, 'removal')} held until an operator decides`);
    if (renamedTo !== null) parts.push(`renamed to “${renamedTo}”`);
    return parts.join(', ');
  },
  notNow: 'none of these groups can be adopted',
  reason: 'To also approve exactly these held removals: reason',
  adopt: 'Adopt',
  adoptAll: (count: number) => `Adopt ${many(count, 'group')}`,
  adopted: (count: number) => `${many(count, 'group')} adopted.`,
  pickTitle: 'Adopt a platform group',
  pickEmpty: 'The platform has no unmanaged group.',
  more: (count: number) => `${many(count, 'more group', 'more groups')}. Search to find them.`,
  users: (count: number) => many(count, 'user'),
  clash: (name: string, id: string) =>
    `The platform has a group “${name}” (${id}) that groupsync does not manage. Adopt it, or create another group with this name.`,
  createAnother: 'Create another group',
  creating: 'groupsync creates another group.',
} as const;
