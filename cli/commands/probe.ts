import type { Command } from 'commander';
import { type ProbeReport, probePlatform } from '../../shared/operate/probe.ts';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { examples } from './arguments.ts';

export function addProbe(program: Command, act: Act): void {
  program
    .command('probe')
    .description('try with one throwaway group what the real platform does, and keep the report')
    .addHelpText(...examples('probe', '--connection acme probe --yes --json'))
    .action(act(probe));
}

export const PROBE_PLAN =
  'makes one group "groupsync probe …" on the platform, writes to it some ten times, with nobody of the company in it, and deletes it';

async function probe(context: Context): Promise<number> {
  const { connection: name, out } = context;
  const { settings } = await requireConnection(name, await context.ports());
  out.note(`${settings.baseUrl}, connection ${name}: this ${PROBE_PLAN}`);
  if (!(await context.confirm('Try the platform?'))) return EXIT.failed;
  const report = await tryPlatform(context, name);
  out.answer({ connection: name, ...report }, () => {
    for (const line of linesOf(report)) out.line(line);
  });
  if (report.stopped !== null) return EXIT.failed;
  return report.kept && report.left.length === 0 ? EXIT.done : EXIT.attention;
}

export async function tryPlatform(
  { io, out, ports }: Context,
  name: Context['connection'],
): Promise<ProbeReport> {
  const opened = await ports();
  const connection = await requireConnection(name, opened);
  return probePlatform({ connection, signal: io.signal, tell: (what) => out.note(what) }, opened);
}

export const linesOf = ({ findings, kept, stopped, left }: ProbeReport): readonly string[] => [
  ...findings.map(({ about, found }) => `${about}: ${found}`),
  ...(stopped === null ? [] : [`not all was tried: ${stopped}`]),
  ...left.map((group) => `could not be deleted, please delete it: ${group}`),
  kept ? 'kept with the connection' : 'not kept: whether PATCH honours the version is not known; try again',
];
