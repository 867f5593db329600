import type { previewSettings, ReplayProgress } from './server/actions.ts';
import type { everyAttention } from './server/every-connection.ts';
import type { Overview } from './server/overview.ts';
import type { QUERIES } from './server/queries.ts';

/*
 * The responses of the console's server, as its functions return them: the JSON of the commands, with names next to the
 * ids. This file contains only types, so the page contains no code of the server.
 */

type Answer<Name extends keyof typeof QUERIES> = Awaited<ReturnType<(typeof QUERIES)[Name]>>;

export type { BlockReport as BlockedAnswer, BlockRow } from '../shared/contract/answers/block.ts';
export type { ShownDeadLetter } from '../shared/contract/answers/dead-letters.ts';
export type { Explanation } from '../shared/contract/answers/explain.ts';
export type { PastMember, PastMembers } from '../shared/contract/answers/groups.ts';
export type { HoldRow } from '../shared/contract/answers/holds.ts';
export type {
  AdoptionPreview,
  PlatformGroupRow,
  PlatformGroupsReport,
} from '../shared/contract/answers/platform-groups.ts';
export type { Entry } from './server/activity.ts';
export type { Live } from './server/live.ts';
export type { PersonName } from './server/people.ts';
export type { SettingField } from './server/setting-fields.ts';
export type { ReplayProgress };

export type Activity = Answer<'activity'>;
export type Attention = Awaited<ReturnType<Overview['attention']>>;
export type Charts = Home['charts'];
export type Checks = Answer<'doctor'>;
export type ConnectionPage = Answer<'connection'>;
export type DeadLetters = Answer<'deadLetters'>;
export type Deliveries = Answer<'deliveries'>;
export type DeliveryLine = Deliveries['deliveries'][number];
export type DeliverySurvey = Answer<'deliverySurvey'>;
export type EveryConnection = Awaited<ReturnType<typeof everyAttention>>;
export type GroupDetail = Answer<'group'>;
export type GroupLine = GroupPage['rows'][number];
export type GroupPage = Answer<'groups'>;
export type OtherRemovals = HoldPage['others'][number];
export type NamedPlan = Answer<'plan'>;
export type HeldPeopleCause = HoldPage['causes'][number];
export type HeldPerson = HoldPage['leaving'][number] | HoldPage['staying'][number];
export type HoldLine = Holds['holds'][number];
export type HoldPage = Answer<'hold'>;
export type Holds = Answer<'holds'>;
export type Home = Answer<'home'>;
export type MemberLine = GroupDetail['members'][number];
export type PersonGroup = PersonPage['groups'][number];
export type PersonPage = Answer<'person'>;
export type EffectCounts = Omit<SettingsPreview['total'], 'groups'>;
export type SessionLine = Sessions['sessions'][number];
export type Sessions = Answer<'sessions'>;
export type SettingsPreview = Awaited<ReturnType<typeof previewSettings>>;
export type Timeline = Answer<'timeline'>;
export type TokenLine = ConnectionPage['tokens'][number];
export type TrendKind = keyof Charts['trends'];
export type Unmatched = UnmatchedPage['rows'][number];
export type UnmatchedPage = Answer<'unmatched'>;
