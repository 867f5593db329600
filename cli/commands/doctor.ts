import type { Command } from 'commander';
import type { Act } from '../context.ts';
import { checkAlarms } from '../../shared/operate/doctor/alarms.ts';
import { examine } from '../../shared/operate/doctor/doctor.ts';
import { EXIT, UsageError } from '../io.ts';
import { plural } from '../output/words.ts';
import { examples } from './arguments.ts';

interface DoctorOptions {
  readonly faults?: boolean;
  readonly alarms?: boolean;
}

export function addDoctor(program: Command, act: Act): void {
  program
    .command('doctor')
    .description('check every part, and say how to mend each fault; changes nothing')
    .option('--faults', 'show faults only')
    .option(
      '--alarms',
      'ring one alarm, see that somebody is told, and end it again; tells everybody subscribed',
    )
    .addHelpText(...examples('doctor', 'doctor --alarms', 'doctor --faults --json'))
    .action(
      act(async ({ out, prefix, connection, connectionGiven, ports }, { faults, alarms }: DoctorOptions) => {
        const chosen = connectionGiven ? connection : undefined;
        const tool = await ports();
        const desk = tool.deployment.alarms;
        if (alarms === true && desk === undefined)
          throw new UsageError('--alarms: the local stack has no alarms');
        const rung = alarms === true && desk ? await checkAlarms({ prefix, alarms: desk }, tool) : undefined;
        const all = rung ?? (await examine({ prefix, connection: chosen }, tool)).checks;
        const wrong = all.filter(({ ok }) => !ok);
        const checks = faults === true ? wrong : all;
        out.answer({ checks }, () => {
          const { paint } = out;
          for (const { ok, name, detail, fix } of checks) {
            out.line(`${ok ? paint.green('ok  ') : paint.red('FAIL')} ${name}: ${detail}`);
            for (const line of fix?.split('\n') ?? [])
              out.line(`     ${line.startsWith('groupsync ') ? 'next' : 'mend'}: ${line}`);
          }
          out.line(wrong.length === 0 ? 'all is well' : plural(wrong.length, 'fault'));
        });
        return wrong.length === 0 ? EXIT.done : EXIT.attention;
      }),
    );
}
