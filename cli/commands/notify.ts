import type { Command } from 'commander';
import * as z from 'zod';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { Act, Context } from '../context.ts';
import { EXIT } from '../io.ts';
import { examples } from './arguments.ts';

const Told = z.array(z.object({ target: z.string(), failure: z.string().nullable() }));
const Answer = z.object({ reports: z.array(z.object({ told: Told })) });

export function addNotify(program: Command, act: Act): void {
  const notify = program
    .command('notify')
    .description('who is told of holds, closed gates, dead letters and the like without asking')
    .addHelpText(...examples('notify list', '--connection acme notify test'));
  for (const [name, description] of [
    ['list', 'who is told, with nothing sent: the setting notify of the stage (docs/deploy.md)'],
    ['test', 'send one message to each target, from where all others come'],
  ] as const)
    notify
      .command(name)
      .description(description)
      .addHelpText(...examples(`notify ${name}`, `notify ${name} --json`))
      .action(act((context: Context) => tell(context, name === 'list')));
}

/** The function that tells all else knows whom, and how. */
async function tell({ out, connection, ports: open }: Context, silent: boolean): Promise<number> {
  const ports = await open();
  await requireConnection(connection, ports);
  const answer = await ports.functions.run('reconcile', { task: 'notify', connection, silent });
  const told = Answer.parse(answer).reports.flatMap((report) => report.told);
  out.answer(silent ? { targets: told.map(({ target }) => target) } : { told }, () => {
    for (const { target, failure } of told) out.line(silent ? target : `${target}: ${failure ?? 'told'}`);
    if (told.length === 0) out.line('nobody is told: set notify (docs/deploy.md) and deploy');
  });
  return silent || (told.length > 0 && told.every(({ failure }) => failure === null))
    ? EXIT.done
    : EXIT.failed;
}
