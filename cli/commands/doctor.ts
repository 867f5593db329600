import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import * as z from 'zod';
import type { Check, ProbeReport } from '../../shared/contract/answers/connect.ts';
import { VERSION } from '../../shared/contract/version.ts';
import { passed } from '../../shared/operate/doctor/check.ts';
import { examine } from '../../shared/operate/doctor/doctor.ts';
import { recordingPorts } from '../../shared/operate/doctor/record.ts';
import type { ToolPorts } from '../../shared/sync/ports/bundles.ts';
import type { Act, Context } from '../context.ts';
import { EXIT, type Io, Stopped, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { examples } from './arguments.ts';

export function addDoctor(program: Command, act: Act): void {
  program
    .command('doctor')
    .description('run health checks and suggest fixes (read-only)')
    .option('--faults', 'show faults only')
    .option('--record <file>', 'write the form of each answer to a new file, without names, ids and values')
    .addHelpText(...examples('doctor', 'doctor --faults --json'))
    .action(act(doctor));
}

async function doctor(context: Context, { faults, record }: { faults?: boolean; record?: string }) {
  const { io, out, prefix, connection, connectionGiven, ports } = context;
  const chosen = connectionGiven ? connection : undefined;
  const ask = (asked: ToolPorts) => examine({ prefix, connection: chosen }, asked);
  const { checks: found } = await recorded(context, record, await ports(), ask);
  const all = [checkNode(io.nodeVersion), ...found];
  const wrong = all.filter(({ ok }) => !ok);
  const checks = faults === true ? wrong : all;
  out.answer({ checks }, () => {
    for (const check of checks) printCheck(check, out);
    out.line(wrong.length === 0 ? 'all checks passed' : plural(wrong.length, 'fault'));
  });
  return wrong.length === 0 ? EXIT.done : EXIT.attention;
}

/** Runs the checks, and writes the form of each answer to a new file, even if a check throws. */
async function recorded<Result>(
  { io, out }: Context,
  file: string | undefined,
  tool: ToolPorts,
  run: (ports: ToolPorts) => Promise<Result>,
): Promise<Result> {
  if (file === undefined) return run(tool);
  const handle = openNew(io, file);
  const hops: unknown[] = [];
  try {
    return await run(recordingPorts(tool, hops));
  } finally {
    const lines = hops.map((hop) => JSON.stringify(hop)).join(',\n');
    writeSync(handle, `{"groupsync":${JSON.stringify(VERSION)},"hops":[\n${lines}\n]}\n`);
    closeSync(handle);
    out.note(`${plural(hops.length, 'answer')} recorded in ${file}`);
  }
}

/** @throws UsageError if the file exists or cannot be created */
function openNew(io: Io, file: string): number {
  try {
    return openSync(resolve(io.cwd, file), 'wx', 0o600);
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
    const problem = isThere ? `expected a new file, but ${file} exists` : (cause as Error).message;
    throw new UsageError(`--record: ${problem}`, { cause });
  }
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

const PROBE_PLAN =
  'creates one group "groupsync probe …" on the platform, without employees of the company, writes to it about ten times, and deletes it';

async function probe(context: Context): Promise<number> {
  const { connection: name, out } = context;
  const { found } = await context.connected();
  out.note(`${found.settings.baseUrl}, connection ${name}: the probe ${PROBE_PLAN}`);
  if (!(await context.confirm('Probe the platform?'))) return EXIT.failed;
  const report = await tryPlatform(context);
  out.answer({ connection: name, ...report }, () => {
    for (const line of linesOf(report)) out.line(line);
  });
  if (report.stopped !== null) return EXIT.failed;
  return report.kept && report.left.length === 0 ? EXIT.done : EXIT.attention;
}

/** Waits for the probe. Ctrl-C ends only the waiting: the function completes the probe and deletes its group. */
async function tryPlatform({ io: { signal }, connection, connected }: Context) {
  const { ports } = await connected();
  if (signal.aborted) throw new Stopped();
  const stopped = new Promise<never>((_, reject) => {
    const stop = () =>
      reject(new Error('stopped waiting; the function ends the probe and deletes its group'));
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([ports.decisions.probe({ connection }), stopped]);
}

function linesOf({ findings, kept, stopped, left }: ProbeReport): readonly string[] {
  const lines = findings.map(({ about, found }) => `${about}: ${found}`);
  if (stopped !== null) lines.push(`the probe is incomplete: ${stopped}`);
  for (const group of left)
    lines.push(`could not delete the test group; delete it on the platform: ${group}`);
  lines.push(
    kept
      ? 'report stored with the connection'
      : 'report not stored: PATCH with a version could not be tested; run the probe again',
  );
  return lines;
}

const Notified = z.array(z.object({ target: z.string(), failure: z.string().nullable() }));
const Answer = z.object({ reports: z.array(z.object({ notified: Notified })) });

export function addNotify(program: Command, act: Act): void {
  const notify = program
    .command('notify')
    .description('notifications about holds, blocked writes, dead-lettered messages and other alarms')
    .addHelpText(...examples('notify list', '--connection acme notify test'));
  for (const [name, description] of [
    ['list', 'list notification targets: the setting notify of the stage (docs/settings.md)'],
    ['test', 'send a test message to each target, from the function that sends all notifications'],
  ] as const)
    notify
      .command(name)
      .description(description)
      .addHelpText(...examples(`notify ${name}`, `notify ${name} --json`))
      .action(act((context: Context) => notifyTargets(context, name === 'list')));
}

/**
 * Lists the notification targets, or sends a test message to each. The function `reconcile` does both, because only
 * this function knows the targets.
 */
async function notifyTargets({ out, connection, connected }: Context, silent: boolean): Promise<number> {
  const { ports } = await connected();
  const answer = await ports.functions.run('reconcile', { task: 'notify', connection, silent });
  const notified = Answer.parse(answer).reports.flatMap((report) => report.notified);
  out.answer(silent ? { targets: notified.map(({ target }) => target) } : { notified }, () => {
    for (const { target, failure } of notified)
      out.line(silent ? target : `${target}: ${failure ?? 'notified'}`);
    if (notified.length === 0)
      out.line('no notification target is set: set notify (docs/settings.md) and deploy');
  });
  return silent || (notified.length > 0 && notified.every(({ failure }) => failure === null))
    ? EXIT.done
    : EXIT.failed;
}

const RECOMMENDED = ['22', '24'];

/** Reports the Node.js version that runs the command. Any version that the package accepts works. */
function checkNode(version: string): Check {
  const [major = ''] = version.split('.');
  if (RECOMMENDED.includes(major)) return passed('node', version);
  const limit = Number(major) < 22 ? '; the AWS SDK requires Node 22 from January 2027' : '';
  return passed('node', `${version} works${limit}; ${RECOMMENDED.join(' or ')} is recommended`);
}
