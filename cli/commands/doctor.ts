import type { Command } from 'commander';
import { examine } from '../../shared/operate/doctor/doctor.ts';
import type { Act } from '../act.ts';
import { EXIT } from '../io.ts';
import { plural } from '../output/words.ts';

export function addDoctor(program: Command, act: Act): void {
  program
    .command('doctor')
    .description('check every part, and say how to mend each fault; changes nothing')
    .option('--faults', 'show faults only')
    .addHelpText('after', '\nExamples:\n  groupsync doctor\n  groupsync doctor --faults --json')
    .action(
      act(async ({ out, prefix, connection, connectionGiven, ports }, { faults }: { faults?: boolean }) => {
        const chosen = connectionGiven ? connection : undefined;
        const report = await examine({ prefix, connection: chosen }, await ports());
        const wrong = report.checks.filter(({ ok }) => !ok);
        const checks = faults === true ? wrong : report.checks;
        out.answer({ checks }, () => {
          const { paint } = out;
          for (const { ok, name, detail, fix } of checks) {
            out.line(`${ok ? paint.green('ok  ') : paint.red('FAIL')} ${name}: ${detail}`);
            if (fix !== null) out.line(`     mend: ${fix}`);
          }
          out.line(wrong.length === 0 ? 'all is well' : plural(wrong.length, 'fault'));
        });
        return wrong.length === 0 ? EXIT.done : EXIT.attention;
      }),
    );
}
