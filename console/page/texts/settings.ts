export const SECTIONS = ['matching', 'groups', 'safety', 'advanced'] as const;
type Section = (typeof SECTIONS)[number];

interface SettingText {
  readonly section: Section;
  readonly title: string;
  readonly text: string;
  readonly choices?: Readonly<Record<string, readonly [label: string, text: string]>>;
}

/** The texts of each setting, by its key. A test compares the keys with the schema of the settings. */
export const texts: Readonly<Record<string, SettingText>> = {
  match: {
    section: 'matching',
    title: 'Match rules',
    text: 'How the employee of a member is found: memberAttribute=employeeField, one rule per line. The first rule with a match decides.',
  },
  includeStates: {
    section: 'matching',
    title: 'Employee states',
    text: 'Employees in these states may be members.',
  },
  'people.exclude': {
    section: 'matching',
    title: 'Excluded people',
    text: 'Conditions attribute=value, one per line, such as type=guest. People who meet one of them are in no group.',
  },
  memberIdField: {
    section: 'matching',
    title: 'Id of members',
    text: 'Which id of the employee is written into a group.',
    choices: {
      userId: ['User id', 'all roles of one user are one person'],
      id: ['Employee id', 'each role is a separate person'],
    },
  },
  mode: {
    section: 'groups',
    title: 'Mode',
    text: 'How groupsync treats the groups. A policy below sets another mode for single groups.',
    choices: {
      authoritative: ['Authoritative', 'a platform group equals its directory group'],
      additive: ['Additive', 'users that the directory never wanted stay'],
      report: ['Report', 'groupsync writes nothing'],
    },
  },
  onGroupDeleted: {
    section: 'groups',
    title: 'If the directory deletes a group',
    text: 'What happens to the platform group in the mode authoritative.',
    choices: {
      delete: ['Delete', 'the platform group is deleted'],
      release: [
        'Release',
        'the members from the directory are removed, and the group stays without an owner',
      ],
    },
  },
  nameTemplate: {
    section: 'groups',
    title: 'Name on the platform',
    text: 'A template with {name}, {id} and {connection}.',
  },
  'groups.include': {
    section: 'groups',
    title: 'Included groups',
    text: 'Patterns with * and ? for the name or the id, one per line. Other groups are recorded and not written.',
  },
  'groups.exclude': {
    section: 'groups',
    title: 'Excluded groups',
    text: 'Patterns for groups that are not written. They have priority over included groups.',
  },
  'groups.policies': {
    section: 'groups',
    title: 'Policies of groups',
    text: 'A JSON list of {"match": pattern, "mode": "authoritative", "additive" or "report"}. The first match applies.',
  },
  nested: {
    section: 'groups',
    title: 'Groups within groups',
    text: 'What happens with a group that is a member of another group.',
    choices: {
      flatten: ['Flatten', 'its members are members of the outer group too'],
      ignore: ['Ignore', 'the inner group is left out, or the event is refused'],
    },
  },
  guard: {
    section: 'safety',
    title: 'Removal guard',
    text: 'Holds removals above the limits below until an operator decides.',
  },
  'guard.maxRemovedShare': {
    section: 'safety',
    title: 'Removed share of a group',
    text: 'Removals above this share of one group within 75 minutes are held.',
  },
  'guard.minSize': {
    section: 'safety',
    title: 'Smallest group for the share',
    text: 'The removed share does not limit groups with fewer users than this. Instead, only a few of these groups may lose most of their people within 75 minutes.',
  },
  'guard.maxRemovedCount': {
    section: 'safety',
    title: 'Removed people per group',
    text: 'Removals from one group above this number within 75 minutes are held.',
  },
  'guard.perHourCount': {
    section: 'safety',
    title: 'Removed people in all groups',
    text: 'Removals from all groups together above this number within 75 minutes are held.',
  },
  'guard.deletedGroups': {
    section: 'safety',
    title: 'Deleted groups',
    text: 'Deletions of groups above this number within 75 minutes are held.',
  },
  'guard.deletedGroupsShare': {
    section: 'safety',
    title: 'Deleted share of all groups',
    text: 'The limit is this share or the number of deleted groups, whichever is larger.',
  },
  fourEyes: {
    section: 'safety',
    title: 'Four eyes',
    text: 'The operator who caused a hold cannot approve the hold. Weaker limits need a second person.',
  },
  auditReads: {
    section: 'safety',
    title: 'Audit of reads',
    text: 'The audit records who reads data of people, in the console and at the command line.',
  },
  baseUrl: { section: 'advanced', title: 'Address of the platform', text: 'An https URL.' },
  concurrency: {
    section: 'advanced',
    title: 'Concurrent calls',
    text: 'Maximum number of calls to the platform at the same time, in each worker.',
  },
  timeoutMs: {
    section: 'advanced',
    title: 'Time limit of a call',
    text: 'In milliseconds, for one attempt.',
  },
  'activity.startParam': {
    section: 'advanced',
    title: 'Activity feed: start',
    text: 'Name of the query parameter for the start of the period.',
  },
  'activity.endParam': {
    section: 'advanced',
    title: 'Activity feed: end',
    text: 'Name of the query parameter for the end of the period.',
  },
  'activity.sizeParam': {
    section: 'advanced',
    title: 'Activity feed: size',
    text: 'Name of the query parameter for the size of a page.',
  },
  'activity.pageSize': {
    section: 'advanced',
    title: 'Activity feed: page',
    text: 'Number of events in a page.',
  },
  'scim.storeProfile': {
    section: 'advanced',
    title: 'SCIM: store all attributes',
    text: 'Stores every attribute of a person, not only those for matching.',
  },
  'scim.maxGroupNameLength': {
    section: 'advanced',
    title: 'SCIM: longest group name',
    text: 'In characters. A request with a longer name is refused.',
  },
  directory: {
    section: 'advanced',
    title: 'Directory that is read',
    text: 'Set by groupsync connect --directory. The value is JSON. Entra ID: the field cloud is public, gccHigh, dod or china.',
  },
  'sources.expectEvery.events': {
    section: 'advanced',
    title: 'Events expected every',
    text: 'In minutes. If no event arrives for longer, groupsync reports it. Empty: no report.',
  },
  'sources.expectEvery.scim': {
    section: 'advanced',
    title: 'SCIM requests expected every',
    text: 'In minutes. If no request arrives for longer, groupsync reports it. Empty: no report.',
  },
  'sources.expectEvery.directory': {
    section: 'advanced',
    title: 'Read of the directory expected every',
    text: 'In minutes. Empty: as often as the schedule of the reader runs.',
  },
};

type NumberLimits = { readonly least: number; readonly most: number; readonly isWhole: boolean };

export const settings = {
  sections: {
    matching: 'Matching',
    groups: 'Groups',
    safety: 'Safety',
    advanced: 'Advanced',
  } satisfies Readonly<Record<Section, string>>,
  of: texts,
  on: 'On',
  off: 'Off',
  empty: 'none',
  defaultIs: (text: string) => `Default: ${text}`,
  isDefault: 'default',
  value: 'Value',
  onePerLine: 'One per line',
  limits: ({ least, most, isWhole }: NumberLimits) =>
    `${isWhole ? 'A whole number' : 'A number'} from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`,
  orEmpty: ', or empty',
  notJson: 'Enter valid JSON.',
  fourEyesOn:
    'Four eyes is on: a change that permits more removals, or switches four eyes off, needs a second person.',
  weakens: 'This change permits more removals without an approval.',
} as const;
