import { readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { expect, it } from 'vitest';
import { headingSlug } from '../../infra/alarms.ts';
import { GroupSync } from '../../infra/group-sync.ts';
import { METRICS } from '../../shared/contract/metrics.ts';
import { DEAD_LETTER_CODES, METRIC_NAMESPACE } from '../../shared/contract/names.ts';
import { type STAGE_SUBJECTS, SUBJECTS, type Subject } from '../../shared/domain/notice.ts';
import { noticeOf } from '../../shared/plan/notice.ts';
import { SIGN_IN } from './sign-in.ts';
import { code, resourcesOf, synthesise } from './synthesised.ts';

const sources = Object.fromEntries(
  Array.from({ length: 8 }, (_, at) => [`s${at}`, { connection: 'acme', producers: [] }]),
);
const FULL = {
  scim: true,
  console: SIGN_IN,
  auditExportDays: 400,
  directory: true,
  sources,
  dashboard: true,
};
const full = synthesise(FULL).template;
const alarmsOf = (from: typeof full) =>
  Object.values(resourcesOf(from, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
const alarms = alarmsOf(full);
const nameOf = ({ AlarmName }: { AlarmName: string }) => AlarmName.replace('groupsync-', '');
const alarm = (name: string) => alarms.find((one) => nameOf(one) === name);
interface Queried {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: {
    readonly Period: number;
    readonly Metric: { MetricName: string; Namespace: string };
  };
}
const metricsOf = (name: string): readonly Queried[] =>
  alarm(name)?.Metrics.filter(({ MetricStat }: Queried) => MetricStat !== undefined);

const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [headingSlug(section.slice(0, section.indexOf('\n')).trim()), section]),
);

/** The runbook section of each problem that the requeue job reports for the stage. */
const OF_STAGE: Readonly<Record<(typeof STAGE_SUBJECTS)[number] | 'dead_letters', string>> = {
  dead_letters: 'dead-lettered-messages',
  waiting: 'changes-wait',
  gate: 'writes-blocked',
  source: 'a-source-or-reader-late-or-stopped',
  access: 'people-keep-access',
};

/** Returns an app that shows the warning about missing targets, which `synthesise` acknowledges. */
function withWarning(given: Record<string, unknown>): App {
  const app = new App();
  new GroupSync(app, 'Connector', { code, env: { region: 'eu-west-1' }, ...given });
  return app;
}

const warnings = (given: Record<string, unknown>) =>
  (withWarning(given).synth().stacks[0]?.messages ?? []).filter(({ entry }) =>
    String(entry.data).includes('no alarm is delivered'),
  );

it('the app warns about undelivered alarms if no target is set, and otherwise does not warn', () => {
  expect(warnings({})).toHaveLength(1);
  expect(warnings({ alarmEmail: 'ops@acme.test' })).toEqual([]);
});

it('with every option there are nine alarms, and with the messages of the requeue job twelve headings', () => {
  expect(alarms.map(nameOf).sort()).toEqual([
    'a-function-fails',
    'audit-copy',
    'changes-wait',
    'console',
    'scheduled-work-late',
    'scheduled-work-late-hourly',
    'scim',
    'throttled',
    'undelivered',
  ]);
  const headings = alarms.map(({ AlarmDescription }) => AlarmDescription.split('#')[1] as string);
  expect([...new Set([...headings, ...Object.values(OF_STAGE)])].sort()).toEqual([...sections.keys()].sort());
  expect(sections.size).toBe(12);
  expect(alarmsOf(synthesise().template)).toHaveLength(6);
});

it.each(alarms.map((one) => [nameOf(one), one] as const))(
  'the alarm %s notifies of its start and end, and names a command and its runbook heading',
  (_, one) => {
    const [topic] = Object.keys(resourcesOf(full, 'AWS::SNS::Topic'));
    expect([one.AlarmActions, one.OKActions]).toEqual([[{ Ref: topic }], [{ Ref: topic }]]);
    expect(one.AlarmDescription).toMatch(
      /^[A-Z].*\. Run: npx groupsync --prefix groupsync [a-z-]+.* What to do: docs\/runbook\.md#[a-z-]+$/,
    );
    // CloudWatch evaluates at most ten metrics in one alarm.
    expect(one.Metrics.length).toBeLessThanOrEqual(11);
    const periods = one.Metrics.flatMap(({ MetricStat }: Queried) => MetricStat?.Period ?? []);
    expect(new Set(periods).size).toBe(1);
  },
);

it('every section of the runbook has Meaning, Effect and Fix, and a command', () => {
  for (const [heading, section] of sections)
    for (const part of ['**Meaning.**', '**Effect.**', '**Fix.**', '```sh'])
      expect(section, `${heading} has no ${part}`).toContain(part);
  for (const code of DEAD_LETTER_CODES)
    expect(sections.get('dead-lettered-messages')).toContain(`\`${code}\``);
});

it('only the alarms about scheduled jobs use metrics of groupsync, and they use all of them', () => {
  const used = alarms.flatMap((one) => metricsOf(nameOf(one)));
  const ours = used.flatMap(({ MetricStat }) =>
    MetricStat?.Metric.Namespace === METRIC_NAMESPACE ? [MetricStat.Metric.MetricName] : [],
  );
  expect(new Set(ours)).toEqual(new Set(METRICS));
});

it('if the sweep or the refresh of people does not run for three intervals, one alarm fires', () => {
  const rare = alarmsOf(synthesise({ sweepMinutes: 90 }).template).find(
    (one) => nameOf(one) === 'scheduled-work-late-hourly',
  );
  expect(rare).toMatchObject({ EvaluationPeriods: 3, TreatMissingData: 'notBreaching' });
  expect(rare?.Metrics.find(({ Id }: Queried) => Id === 'sweep').MetricStat.Period).toBe(2 * 3_600);
});

it('every message of the requeue job has a command', () => {
  for (const subject of SUBJECTS) {
    const notice = noticeOf({ subject: subject as Subject, count: 1, sinceMs: 0 }, { prefix: 'prod' });
    expect(notice).toContainEqual(expect.stringMatching(/^npx groupsync --prefix prod .*[a-z]+/));
  }
});

it('only the setting dashboard adds a dashboard', () => {
  expect(Object.keys(resourcesOf(synthesise().template, 'AWS::CloudWatch::Dashboard'))).toEqual([]);
  expect(Object.keys(resourcesOf(full, 'AWS::CloudWatch::Dashboard'))).toHaveLength(1);
});
