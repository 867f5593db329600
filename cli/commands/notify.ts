import type { Command } from 'commander';
import * as z from 'zod';
import { requireConnection } from '../../shared/operate/settings.ts';
import type { Act } from '../act.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../io.ts';

const Told = z.array(z.object({ target: z.string(), failure: z.string().nullable() }));
const Answer = z.object({ reports: z.array(z.object({ told: Told })) });

export function addNotify(program: Command, act: Act): void {
  program
    .command('notify')
    .description('who is told of holds, closed gates, dead letters and the like without asking')
    .addHelpText('after', '\nExamples:\n  groupsync notify test\n  groupsync --connection acme notify test')
    .command('test')
    .description('send one message to each target, from where all others come')
    .addHelpText('after', '\nExamples:\n  groupsync notify test\n  groupsync notify test --json')
    .action(act(test));
}

async function test({ out, connection, ports: open }: Context): Promise<number> {
  const ports = await open();
  await requireConnection(connection, ports);
  const answer = Answer.parse(await ports.functions.run('reconcile', { task: 'notify', connection }));
  const told = answer.reports.flatMap((report) => report.told);
  out.answer({ told }, () => {
    for (const { target, failure } of told) out.line(`${target}: ${failure ?? 'told'}`);
    if (told.length === 0) out.line('nobody is told: set notify (docs/deploy.md) and deploy');
  });
  return told.length > 0 && told.every(({ failure }) => failure === null) ? EXIT.done : EXIT.failed;
}
