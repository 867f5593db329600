import { readdirSync, readFileSync } from 'node:fs';
import { App } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { headingSlug } from '../../infra/alarms.ts';
import { GroupSync } from '../../infra/group-sync.ts';
import { METRICS, type MetricName } from '../../shared/contract/metrics.ts';
import { FUNCTION_KEYS, METRIC_NAMESPACE, SCHEDULE_KEYS } from '../../shared/contract/names.ts';
import { SIGN_IN } from './sign-in.ts';
import { code, resourcesOf, synthesise } from './synthesised.ts';

const { template } = synthesise();
/** The metrics that the functions emit: the first argument of every call of `emit`. */
const emitted = new Set(
  ['shared', 'functions'].flatMap((folder) => {
    const root = new URL(`../../${folder}/`, import.meta.url);
    return readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [...readFileSync(new URL(path, root), 'utf8').matchAll(/\bemit\(\s*'(\w+)'/g)])
      .map(([, name]) => name);
  }),
);
const alarmsOf = (from: typeof template) =>
  Object.values(resourcesOf(from, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
const alarms = alarmsOf(template);
const withScim = synthesise({ scim: true }).template;
const withAudit = alarmsOf(synthesise({ auditExportDays: 400 }).template);
const nameOf = ({ AlarmName }: { AlarmName: string }) => AlarmName;
const scimAlarms = alarmsOf(withScim).filter((alarm) => !alarms.map(nameOf).includes(nameOf(alarm)));
const auditAlarms = withAudit.filter((alarm) => !alarms.map(nameOf).includes(nameOf(alarm)));
const withReader = alarmsOf(synthesise({ directory: true }).template);
const readerAlarms = withReader.filter((alarm) => !alarms.map(nameOf).includes(nameOf(alarm)));
const withConsole = alarmsOf(synthesise({ console: SIGN_IN }).template);
const consoleAlarms = withConsole.filter((alarm) => !alarms.map(nameOf).includes(nameOf(alarm)));
const everyAlarm = [...alarms, ...scimAlarms, ...auditAlarms, ...readerAlarms, ...consoleAlarms];
const ofFunction = (name: string) =>
  ['errors', 'near-its-time-limit', 'throttles'].map((what) => `function-${what}-${name}`);
const runbook = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8');
const sections = new Map(
  runbook
    .split(/^## /m)
    .slice(1)
    .map((section) => [headingSlug(section.slice(0, section.indexOf('\n')).trim()), section]),
);

/** Returns an app that shows the warning about missing targets, which `synthesise` acknowledges. */
function withWarning(given: Record<string, unknown>): App {
  const app = new App();
  new GroupSync(app, 'Connector', { code, env: { region: 'eu-west-1' }, ...given });
  return app;
}

describe('target of the alarms', () => {
  const warnings = (given: Record<string, unknown>) =>
    (withWarning(given).synth().stacks[0]?.messages ?? []).filter(({ entry }) =>
      String(entry.data).includes('no alarm is delivered'),
    );

  it('the app warns about undelivered alarms if no target is set, and otherwise does not warn', () => {
    expect(warnings({})).toHaveLength(1);
    expect(warnings({ alarmEmail: 'ops@acme.test' })).toEqual([]);
  });
});

describe('CloudWatch alarms', () => {
  it('the stack has exactly the listed alarms', () => {
    expect(alarms.map(nameOf).sort()).toEqual(
      [
        'apply-dead-letters apply-failures apply-messages-wait-too-long changes-wait-over-an-hour',
        'credential-holder-leaves credential-not-checked credential-unauthorised events-dead-letters events-wait-too-long',
        'feed-cursor-stale gate-closed holds-waiting people-keep-access people-not-refreshed pump-not-run',
        'source-late sweep-halted sweep-not-run table-throttles undelivered-calls unknown-users',
      ]
        .flatMap((names) => names.split(' '))
        .concat(FUNCTION_KEYS.flatMap(ofFunction))
        .map((name) => `groupsync-${name}`)
        .sort(),
    );
  });

  it('a stage with SCIM has alarms for failures that identity providers would notice', () => {
    expect(scimAlarms.map(nameOf).sort()).toEqual([
      ...ofFunction('scim').map((name) => `groupsync-${name}`),
      'groupsync-scim-requests-fail',
      'groupsync-scim-requests-throttled',
      'groupsync-scim-token-ends-soon',
      'groupsync-scim-tokens-refused',
    ]);
  });

  it('a stage with the console has an alarm for requests that fail', () => {
    const names = ['console-requests-fail', ...ofFunction('console')];
    expect(consoleAlarms.map(nameOf).sort()).toEqual(names.map((name) => `groupsync-${name}`));
  });

  it('a stage with an audit export has an alarm for entries that are not copied', () => {
    const names = ['audit-export-behind', ...ofFunction('audit')];
    expect(auditAlarms.map(nameOf).sort()).toEqual(names.map((name) => `groupsync-${name}`));
  });

  it('a stage that reads a directory has alarms for late, stopped and incomplete reads', () => {
    expect(readerAlarms.map(nameOf).sort()).toEqual(
      [
        'directory-lists-too-few-members',
        'events-wait-too-long-directory',
        ...ofFunction('directory'),
        'reader-late',
        'reader-stopped',
      ].map((name) => `groupsync-${name}`),
    );
  });

  it.each(everyAlarm.map((alarm) => [alarm.AlarmName as string, alarm] as const))(
    'the alarm %s notifies of its start and end, defines missing data, and links its runbook heading',
    (_name, alarm) => {
      const [topic] = Object.keys(resourcesOf(template, 'AWS::SNS::Topic'));
      expect(alarm.AlarmActions).toEqual([{ Ref: topic }]);
      expect(alarm.OKActions).toEqual([{ Ref: topic }]);
      expect(['notBreaching', 'breaching']).toContain(alarm.TreatMissingData);
      const anchor = /docs\/runbook\.md#([a-z0-9-]+)$/.exec(alarm.AlarmDescription)?.[1] ?? 'none';
      expect([...sections.keys()]).toContain(anchor);
    },
  );

  it('every alarm has a runbook section with Meaning, Effect, Check and Fix, and a command', () => {
    const linked = new Set(everyAlarm.map((alarm): string => alarm.AlarmDescription.split('#')[1]));
    for (const anchor of linked) {
      const section = sections.get(anchor) ?? '';
      for (const part of ['**Meaning.**', '**Effect.**', '**Check.**', '**Fix.**']) {
        expect(section, `${anchor} has no part ${part}`).toContain(part);
      }
      expect(section, `${anchor} has no command`).toContain('```sh');
    }
  });

  it('alarms use only metrics that the code emits, for the whole stage', () => {
    const ours = alarms.filter(({ Namespace }) => Namespace === METRIC_NAMESPACE);
    expect(ours.length).toBeGreaterThanOrEqual(9);
    for (const { MetricName, Dimensions } of ours) {
      expect([...emitted]).toContain(MetricName);
      expect(Dimensions).toEqual([{ Name: 'Prefix', Value: 'groupsync' }]);
    }
  });

  it('the SCIM alarms count answers 401 of the function as refused tokens, and answers 429 of the gateway as throttling', () => {
    const alarm = (name: string) => scimAlarms.find((each) => nameOf(each) === `groupsync-scim-${name}`);
    expect(alarm('tokens-refused')).toMatchObject({
      Namespace: METRIC_NAMESPACE,
      MetricName: 'ScimRefusals',
      Dimensions: [
        { Name: 'Kind', Value: '401' },
        { Name: 'Prefix', Value: 'groupsync' },
      ],
    });
    const [filter] = Object.values(resourcesOf(withScim, 'AWS::Logs::MetricFilter'));
    expect(filter?.Properties.FilterPattern).toBe('{ $.status = "429" }');
    expect(filter?.Properties.MetricTransformations).toEqual([
      {
        MetricNamespace: alarm('requests-throttled')?.Namespace,
        MetricName: alarm('requests-throttled')?.MetricName,
        MetricValue: '1',
      },
    ]);
  });

  it('the SCIM failure alarm ignores fewer than five failures', () => {
    const failing = scimAlarms.find((each) => nameOf(each) === 'groupsync-scim-requests-fail');
    expect(failing).toMatchObject({ Threshold: 5, DatapointsToAlarm: 2, EvaluationPeriods: 3 });
    expect(failing?.Metrics[0].Expression).toBe('IF(failed >= 5, 100 * failed / requests, 0)');
  });

  it.each([
    ['pump', 'pump-not-run', 900],
    ['sweep', 'sweep-not-run', 3 * 3600],
    ['people', 'people-not-refreshed', 3 * 3600],
    ['feed', 'feed-cursor-stale', 24 * 3600],
    ['health', 'credential-not-checked', 2 * 24 * 3600],
  ])('if the schedule %s is switched off, the alarm %s fires', (schedule, name, seconds) => {
    expect(SCHEDULE_KEYS).toContain(schedule);
    const alarm = alarms.find((each) => nameOf(each) === `groupsync-${name}`);
    // An alarm on missing data fires after this time. Other alarms compare the age of the last success.
    const silence = alarm?.TreatMissingData === 'breaching' && alarm.Period * alarm.EvaluationPeriods;
    expect(silence || alarm?.Threshold).toBe(seconds);
  });

  it.each([
    ['reconcile', 60],
    ['people', 60],
    ['ingest', 1],
    ['apply', 1],
  ])(
    'each period of the time limit alarm of %s, which runs every %d minutes, contains a whole run',
    (name, everyMinutes) => {
      const near = alarms.find((each) => nameOf(each) === `groupsync-function-near-its-time-limit-${name}`);
      // An alarm with several periods works only if each period has at least one run.
      expect(near?.EvaluationPeriods === 1 || near?.Period >= 60 * everyMinutes).toBe(true);
      expect(near?.Period * 1_000).toBeGreaterThan(near?.Threshold);
    },
  );

  it('alarms on level metrics stay on until the next run of the requeue job or sweep, even if the job runs rarely', () => {
    const isLevel = ({ MetricName: of }: { MetricName: MetricName }) => METRICS[of]?.form === 'gauge';
    const levels = alarmsOf(synthesise({ pumpMinutes: 60 }).template).filter(isLevel);
    // groupsync retries a refused removal after a little more than an hour.
    expect(levels.map(({ Period }) => Period).sort()).toEqual([...Array(9).fill(3_600), 7_200]);
  });

  it('missing data triggers only the heartbeat alarms', () => {
    const breaching = everyAlarm.filter(({ TreatMissingData }) => TreatMissingData === 'breaching');
    expect(breaching.map(nameOf).sort()).toEqual([
      'groupsync-people-not-refreshed',
      'groupsync-pump-not-run',
      'groupsync-sweep-not-run',
    ]);
  });
});

describe('list of metrics', () => {
  it('the list METRICS contains exactly the metrics that the code emits', () => {
    expect([...emitted].sort()).toEqual(Object.keys(METRICS).sort());
  });
});

describe('CloudWatch dashboard', () => {
  const shownBy = (of: typeof template) =>
    JSON.stringify(Object.values(resourcesOf(of, 'AWS::CloudWatch::Dashboard'))[0]?.Properties.DashboardBody);
  const [body, withGateway] = [shownBy(template), shownBy(withScim)];

  it.each(Object.keys(METRICS))('the dashboard shows the metric %s', (name) => {
    // The test compares booleans, because a failure would otherwise print the whole dashboard.
    expect(body.includes(name)).toBe(true);
  });

  it.each(['4xx', '5xx', 'ScimThrottled', 'Latency'])(
    'the dashboard of a stage with SCIM shows %s of the gateway',
    (name) => {
      expect([body, withGateway].map((one) => one.includes(`\\"${name}\\"`))).toEqual([false, true]);
    },
  );
});
