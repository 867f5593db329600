import type { Command } from 'commander';
import * as z from 'zod';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { examples } from './arguments.ts';

/** Functions answer for each connection; of a report whatever it holds is passed on. */
const Answer = z.object({ reports: z.array(z.record(z.string(), z.unknown())) });
const Skipped = z.object({ skipped: z.string() });

export function addReconcile(program: Command, act: Act): void {
  program
    .command('reconcile')
    .description("read the platform's activity feed now, or compare every group")
    .option('--sweep', 'compare every group with the platform, not only those in the feed')
    .addHelpText(...examples('reconcile', 'reconcile --sweep --json'))
    .action(
      act((context, { sweep }: { sweep?: boolean }) =>
        runNow(context, 'reconcile', { task: sweep === true ? 'sweep' : 'feed' }),
      ),
    );
  const people = program
    .command('people')
    .description('the index of employees by which members are matched')
    .addHelpText(...examples('people refresh', 'people refresh --json'));
  people
    .command('refresh')
    .description('read all employees now')
    .addHelpText(...examples('people refresh', 'people refresh --json'))
    .action(act((context) => runNow(context, 'people', {})));
}

/** The deployed function does it, with its own permissions and its own locks; this waits and reports. */
async function runNow(context: Context, name: 'reconcile' | 'people', event: object): Promise<number> {
  const { out, connection } = context;
  const ports = await context.ports();
  await requireConnection(connection, ports);
  out.note(`running ${name} for ${connection} …`);
  const answer = Answer.parse(await ports.functions.run(name, { ...event, connection }));
  const [report = {}] = answer.reports;
  const skipped = Skipped.safeParse(report);
  out.answer(report, () => {
    if (skipped.success) {
      out.line(`not run: ${skipped.data.skipped}`);
      return;
    }
    for (const [key, value] of Object.entries(report)) {
      out.line(`${key.padEnd(14)} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
    }
  });
  return skipped.success ? EXIT.attention : EXIT.done;
}
