export const find = {
  title: 'Search groups, people, actions and settings',
  hint: 'Group, person, action or setting',
  results: 'Results',
  none: 'Nothing found.',
  button: 'Search',
  keys: 'Ctrl K',
  kinds: {
    group: 'Group',
    person: 'Person',
    page: 'Page',
    action: 'Action',
    setting: 'Setting',
  },
} as const;

export interface KnownPlace {
  readonly kind: 'page' | 'action';
  readonly title: string;
  /** Other words by which the place is found. */
  readonly words: string;
  readonly page: string;
  readonly filters?: Readonly<Record<string, string>>;
  /** The action that the place leads to. A person whose role may not use it does not find the place. */
  readonly use?: string;
}

export const PLACES: readonly KnownPlace[] = [
  { kind: 'page', title: 'Home', words: 'overview attention charts', page: 'home' },
  { kind: 'page', title: 'Holds', words: 'guard removals waiting', page: 'holds' },
  { kind: 'page', title: 'Groups', words: 'directory list', page: 'groups' },
  { kind: 'page', title: 'Failed groups', words: 'error', page: 'groups', filters: { state: 'failed' } },
  { kind: 'page', title: 'Platform groups', words: 'unmanaged', page: 'platform-groups' },
  { kind: 'page', title: 'Pending people', words: 'missing match unknown', page: 'people' },
  { kind: 'page', title: 'Activity', words: 'log audit history writes', page: 'activity' },
  {
    kind: 'page',
    title: 'Changes by other clients',
    words: 'drift external',
    page: 'activity',
    filters: { text: 'action:drift' },
  },
  { kind: 'page', title: 'Deliveries', words: 'scim requests refused', page: 'deliveries' },
  { kind: 'page', title: 'Dead-lettered messages', words: 'dlq errors queue', page: 'dead-letters' },
  { kind: 'page', title: 'Connection', words: 'credential settings feed', page: 'connection' },
  { kind: 'action', title: 'Approve or reject removals', words: 'hold', page: 'holds', use: 'approve' },
  {
    kind: 'action',
    title: 'Pause or resume all writes',
    words: 'stop',
    page: 'connection',
    use: 'pause-all',
  },
  { kind: 'action', title: 'Pause or resume groups', words: 'stop', page: 'groups', use: 'pause' },
  { kind: 'action', title: 'Adopt platform groups', words: 'link', page: 'platform-groups', use: 'adopt' },
  { kind: 'action', title: 'Block a person', words: 'leaver urgent', page: 'people', use: 'block' },
  { kind: 'action', title: 'Bind a person to an employee', words: 'rebind', page: 'people', use: 'rebind' },
  { kind: 'action', title: 'Erase a person', words: 'forget privacy', page: 'people', use: 'forget' },
  {
    kind: 'action',
    title: 'Retry, edit or discard messages',
    words: 'replay dlq dead-lettered',
    page: 'dead-letters',
    use: 'replay',
  },
  { kind: 'action', title: 'Run checks', words: 'doctor', page: 'connection', use: 'doctor' },
  { kind: 'action', title: 'Create a SCIM token', words: '', page: 'connection', use: 'make-token' },
  { kind: 'action', title: 'End sessions', words: 'sign out', page: 'connection', use: 'end-sessions' },
];
