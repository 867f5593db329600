export const people = {
  search: 'Name, e-mail address or id of a member',
  hint: 'Search for a person to see their groups, and why they are a member or not.',
  none: (text: string) => `No people match “${text}”.`,
  pendingTitle: 'Pending people',
  noPending: 'No person of the directory is pending.',
  columns: { name: 'Name', department: 'Department', cause: 'Reason', groups: 'Groups', since: 'Since' },
} as const;

export const person = {
  groups: 'Groups',
  asMember: (member: string) => `as member ${member}`,
  noGroups: 'The directory sent no event about this person in a group.',
  columns: { directory: 'Directory', platform: 'Platform' },
  explainOf: (name: string) => `Explain ${name}`,
  timeline: 'Timeline',
  noTimeline: 'No writes about this person yet.',
  bound: 'Employee',
  unbound: 'No employee matches this person.',
  steps: { event: 'Event', match: 'Match', decision: 'Decision', write: 'Write' },
  noEvent: 'No event about this person in this group.',
  noMatch: 'No match rule was evaluated.',
  rule: (rule: string, value: string | null, found: string) =>
    value === null ? `${rule}: the person has no such attribute` : `${rule}: “${value}” matches ${found}`,
  noEmployee: 'no employee',
  noWrite: 'No write about this person.',
  in: 'Member of the group.',
  out: 'Not a member of the group.',
  rebind: 'Rebind',
  rebindTitle: (name: string) => `Bind ${name} to an employee`,
  rebindText: 'This binding overrides the match rules.',
  rebindRole: 'Employee id (role)',
  rehire: (role: string) => `Rebind to ${role}`,
  rehireText: (role: string) =>
    `The present employee has left. The active employee ${role} also matches. Rebind only if it is the same person.`,
  rebound: 'Person bound.',
  forget: 'Forget',
  forgetTitle: (name: string) => `Forget ${name}?`,
  forgetText:
    'Name, address and all other attributes are erased from groupsync. Ids and memberships stay. This cannot be undone.',
  forgotten: 'Personal data erased.',
} as const;

export const block = {
  people: 'Blocked people',
  blocked: 'Blocked',
  requested: (by: string) =>
    `${by} asked to unblock; another person must confirm it on the connection's page`,
  block: 'Block',
  title: (name: string) => `Block ${name}?`,
  text: 'All groups lose this person now, and no group gets this person again until an operator unblocks them.',
  done: (waiting: readonly string[]) =>
    waiting.length === 0
      ? 'Blocked. All groups lose this person now.'
      : `Blocked, but still in ${waiting.join(', ')}: groupsync may not write there now.`,
  already: 'Nothing changed: this person is already blocked.',
  unblock: 'Unblock',
  unblockTitle: (name: string) => `Unblock ${name}?`,
  unblockText: 'This person returns to the groups in which the directory has them.',
  unblockDone: {
    requested: "Still blocked: another person must confirm it on the connection's page.",
    not_blocked: 'Nothing changed: this person is not blocked.',
  } as Readonly<Record<string, string>>,
} as const;
