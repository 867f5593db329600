import { many } from './many.ts';

export const deliveries = {
  group: 'Group',
  member: 'Person',
  client: 'Client',
  event: 'Event',
  ledTo: 'Led to',
  ledToNothing: 'No write and no hold names this delivery.',
  status: 'Answer',
  statuses: {
    '': 'Any',
    accepted: 'Accepted',
    ignored: 'Ignored',
    not_found: 'Not found',
    refused: 'Refused',
    failed: 'Failed',
    retried: 'Retried',
  } as Readonly<Record<string, string>>,
  stop: 'Pause live view',
  start: 'Resume live view',
  what: 'What was sent',
  answer: 'Answer',
  request: 'Request',
  filter: 'Search',
  groups: 'Groups',
  people: 'People',
  more: 'More ids',
  size: 'Size',
  bytes: (count: number) => many(count, 'byte'),
  took: 'Duration',
  detailsOf: (request: string) => `View details: ${request}`,
  clientOf: (kind: string, id: string) => (kind === 'reader' ? 'Reader' : `${CLIENTS[kind] ?? kind}: ${id}`),
  none: 'No deliveries match.',
  empty: 'No deliveries in the last 30 days.',
  expired: 'Deliveries are kept for 30 days.',
  emptyText:
    'Deliveries arrive as SCIM requests, as messages of the events queue, or as runs of the directory reader.',
  found: (count: number) => many(count, 'delivery', 'deliveries'),
  cut: 'Older deliveries are not shown. A filter may show them.',
  all: 'All deliveries',
  last: 'Last delivery:',
  refused: (refused: string, received: string, share: string) =>
    `In the last day, ${refused} of ${received} deliveries were refused (${share}).`,
};

const CLIENTS: Readonly<Record<string, string>> = { scim: 'SCIM', event: 'Events' };
