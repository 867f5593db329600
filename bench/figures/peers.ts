import { parse as peerParse, filter as peerTester } from 'scim2-parse-filter';
import { matchesFilter } from '../../shared/scim/filter/evaluate.ts';
import { parseFilter } from '../../shared/scim/filter/parse.ts';
import { resourceTypes } from '../../shared/scim/resource-type.ts';
import { type Figure, PAIRED_RUNS, showSpread, spreadOf, table } from '../figure.ts';

const USERS = 20_000;
/** As Okta and Entra ID send them, and one with everything. */
const FILTERS = [
  'userName eq "user1000@bench.test"',
  'externalId eq "00u1000"',
  'emails[type eq "work"].value eq "user7@bench.test"',
  'userName sw "user1" and (active eq true or externalId pr) and not (title co "x")',
];
const { User } = resourceTypes(true);

const users = Array.from({ length: USERS }, (_, n) => ({
  userName: `user${n}@bench.test`,
  externalId: `00u${n}`,
  active: n % 3 > 0,
  emails: [{ value: `user${n}@bench.test`, type: 'work', primary: true }],
}));

/** @returns how many users each filter picks, and the milliseconds of reading it once and judging all of them */
function timed(judge: (filter: string) => (user: (typeof users)[number]) => boolean) {
  const startedMs = performance.now();
  const picked = FILTERS.map((filter) => users.filter(judge(filter)).length);
  return { picked: picked.join(', '), ms: performance.now() - startedMs };
}

const ours = () =>
  timed((text) => {
    const filter = parseFilter(text);
    return (user) => matchesFilter(filter, user, User);
  });
const peer = () => timed((text) => peerTester(peerParse(text)));

export const peersFigure: Figure = {
  name: 'peers',
  title: 'Peers',
  async run() {
    for (let warm = 0; warm < PAIRED_RUNS; warm += 1) {
      if (ours().picked !== peer().picked) throw new Error('the two disagree about who is meant');
    }
    const pairs = Array.from({ length: PAIRED_RUNS }, () => [ours().ms, peer().ms] as const);
    const rate = (side: 0 | 1) => spreadOf(pairs.map((pair) => (USERS * FILTERS.length) / pair[side]));
    return [
      'No connector that does the whole of this work can be installed from the npm registry and run here: directories ship',
      'theirs as part of a service. Of its parts one has a peer: SCIM filters, against `scim2-parse-filter`, on the same',
      `${FILTERS.length} filters over ${USERS.toLocaleString('en-GB')} users, with the same answers (which also mind case and types by the schema here).`,
      '',
      table(
        ['users judged per ms', 'groupsync', 'scim2-parse-filter', 'ratio'],
        [
          [
            'read the filter, judge everybody',
            showSpread(rate(0), 0),
            showSpread(rate(1), 0),
            showSpread(spreadOf(pairs.map(([mine, theirs]) => theirs / mine))),
          ],
        ],
      ),
      '',
      'Published, by their own definition: Microsoft says of Entra ID’s provisioning service that after the initial cycle,',
      'which takes from 20 minutes to several hours, it runs “typically every 40 minutes” (Microsoft Learn, “Check the',
      'status of user provisioning” and its answers): the time between two looks at the directory. By that definition',
      'groupsync looks at each message as it comes; how long one then takes to the platform is the figure Latency.',
    ].join('\n');
  },
};
