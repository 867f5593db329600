import type { Command } from 'commander';
import * as z from 'zod';
import type { Check, ProbeReport } from '../../shared/contract/answers.ts';
import { checkAlarms } from '../../shared/operate/doctor/alarms.ts';
import { examine } from '../../shared/operate/doctor/doctor.ts';
import { probePlatform } from '../../shared/operate/probe.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { examples } from './arguments.ts';

export function addDoctor(program: Command, act: Act): void {
  program
    .command('doctor')
    .description('run health checks and suggest fixes (read-only)')
    .option('--faults', 'show faults only')
    .option(
      '--alarms',
      'set one alarm to ALARM, check that it is delivered, and reset it; notifies every subscriber',
    )
    .addHelpText(...examples('doctor', 'doctor --alarms', 'doctor --faults --json'))
    .action(act(doctor));
}

async function doctor(
  { out, prefix, connection, connectionGiven, ports }: Context,
  { faults, alarms }: { readonly faults?: boolean; readonly alarms?: boolean },
): Promise<number> {
  const chosen = connectionGiven ? connection : undefined;
  const tool = await ports();
  const desk = tool.deployment.alarms;
  if (alarms === true && desk === undefined) throw new UsageError('--alarms: the local stack has no alarms');
  const rung = alarms === true && desk ? await checkAlarms({ prefix, alarms: desk }, tool) : undefined;
  const all = rung ?? (await examine({ prefix, connection: chosen }, tool)).checks;
  const wrong = all.filter(({ ok }) => !ok);
  const checks = faults === true ? wrong : all;
  out.answer({ checks }, () => {
    for (const check of checks) printCheck(check, out);
    out.line(wrong.length === 0 ? 'all checks passed' : plural(wrong.length, 'fault'));
  });
  return wrong.length === 0 ? EXIT.done : EXIT.attention;
}

function printCheck({ ok, name, detail, fix }: Check, out: Context['out']): void {
  const { paint } = out;
  out.line(`${ok ? paint.green('ok  ') : paint.red('FAIL')} ${name}: ${detail}`);
  for (const line of fix?.split('\n') ?? [])
    out.line(`     ${line.startsWith('groupsync ') ? 'next' : 'fix'}: ${line}`);
}

export function addProbe(program: Command, act: Act): void {
  program
    .command('probe')
    .description('test the behaviour of the platform with a temporary group, and store the report')
    .addHelpText(...examples('probe', '--connection acme probe --yes --json'))
    .action(act(probe));
}

export const PROBE_PLAN =
  'creates one group "groupsync probe …" on the platform, without employees of the company, writes to it about ten times, and deletes it';

async function probe(context: Context): Promise<number> {
  const { connection: name, out } = context;
  const { found } = await context.connected();
  out.note(`${found.settings.baseUrl}, connection ${name}: the probe ${PROBE_PLAN}`);
  if (!(await context.confirm('Probe the platform?'))) return EXIT.failed;
  const report = await tryPlatform(context, name);
  out.answer({ connection: name, ...report }, () => {
    for (const line of linesOf(report)) out.line(line);
  });
  if (report.stopped !== null) return EXIT.failed;
  return report.kept && report.left.length === 0 ? EXIT.done : EXIT.attention;
}

export async function tryPlatform({ io, out, connected }: Context, name: Context['connection']) {
  const { ports, found: connection } = await connected(name);
  return probePlatform({ connection, signal: io.signal, tell: (what) => out.note(what) }, ports);
}

export const linesOf = ({ findings, kept, stopped, left }: ProbeReport): readonly string[] => [
  ...findings.map(({ about, found }) => `${about}: ${found}`),
  ...(stopped === null ? [] : [`the probe is incomplete: ${stopped}`]),
  ...left.map((group) => `could not delete the test group; delete it on the platform: ${group}`),
  kept
    ? 'report stored with the connection'
    : 'report not stored: PATCH with a version could not be tested; run the probe again',
];

const Told = z.array(z.object({ target: z.string(), failure: z.string().nullable() }));
const Answer = z.object({ reports: z.array(z.object({ told: Told })) });

export function addNotify(program: Command, act: Act): void {
  const notify = program
    .command('notify')
    .description('notifications about holds, blocked writes, dead letters and other alarms')
    .addHelpText(...examples('notify list', '--connection acme notify test'));
  for (const [name, description] of [
    ['list', 'list notification targets: the setting notify of the stage (docs/deploy.md)'],
    ['test', 'send a test message to each target, from the function that sends all notifications'],
  ] as const)
    notify
      .command(name)
      .description(description)
      .addHelpText(...examples(`notify ${name}`, `notify ${name} --json`))
      .action(act((context: Context) => tell(context, name === 'list')));
}

/** Lists the notification targets, or sends each a test message, through `reconcile`, the function that has them. */
async function tell({ out, connection, connected }: Context, silent: boolean): Promise<number> {
  const { ports } = await connected();
  const answer = await ports.functions.run('reconcile', { task: 'notify', connection, silent });
  const told = Answer.parse(answer).reports.flatMap((report) => report.told);
  out.answer(silent ? { targets: told.map(({ target }) => target) } : { notified: told }, () => {
    for (const { target, failure } of told) out.line(silent ? target : `${target}: ${failure ?? 'notified'}`);
    if (told.length === 0) out.line('no notification target is set: set notify (docs/deploy.md) and deploy');
  });
  return silent || (told.length > 0 && told.every(({ failure }) => failure === null))
    ? EXIT.done
    : EXIT.failed;
}
