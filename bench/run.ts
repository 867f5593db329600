import { writeFileSync } from 'node:fs';
import { checkBudget, updateBudget } from './budget.ts';
import type { Figure } from './figure.ts';
import { callsFigure } from './figures/calls.ts';
import { coldStartFigure } from './figures/cold-start.ts';
import { costFigure } from './figures/cost.ts';
import { checkDirectory, directoryFigure } from './figures/directory.ts';
import { fleetFigure } from './figures/fleet.ts';
import { latencyFigure } from './figures/latency.ts';
import { scaleFigure } from './figures/scale.ts';
import { scimFigure } from './figures/scim.ts';
import { describeMachine } from './machine.ts';
import { runAlone } from './run-alone.ts';

// The reader of the output may close the pipe (`| head`).
process.stdout.on('error', () => process.exit());

const FIGURES: readonly Figure[] = [
  callsFigure,
  latencyFigure,
  coldStartFigure,
  scaleFigure,
  fleetFigure,
  scimFigure,
  directoryFigure,
  costFigure,
];

const USAGE = `usage: npm run bench                      measures all figures and writes bench/results.md
       npm run bench -- NAME [--full]    measures and prints one figure: ${FIGURES.map(({ name }) => name).join(', ')}
       npm run bench -- --check          compares counted calls with bench/budget.json, and checks the goals of the reader
       npm run bench -- --update-budget  writes the present counts to bench/budget.json`;

/** @returns the exit code */
async function main(args: readonly string[]): Promise<number> {
  const [first] = args;
  if (first === undefined) return runAll();
  if (first === '--check') return (await checkBudget()) || checkReader();
  if (first === '--update-budget') {
    await updateBudget();
    return 0;
  }
  const figure = FIGURES.find(({ name }) => name === first);
  if (figure === undefined) {
    console.error(USAGE);
    return 2;
  }
  console.log(`## ${figure.title}\n`);
  console.log(await figure.run({ full: args.includes('--full'), part: valueAfter(args, '--part') }));
  return 0;
}

function valueAfter(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag);
  return at < 0 ? undefined : args[at + 1];
}

/** @returns the exit code */
async function checkReader(): Promise<number> {
  const missed = await checkDirectory();
  for (const one of missed) console.error(`the directory reader misses a goal: ${one}`);
  if (missed.length === 0) console.log('the directory reader reaches its goals');
  return missed.length > 0 ? 1 : 0;
}

/** Runs all figures one after the other, each in a separate process. */
async function runAll(): Promise<number> {
  const startedMs = Date.now();
  const sections: string[] = [];
  const failed: string[] = [];
  for (const { name } of FIGURES) {
    const { code, text } = await runAlone([name]);
    if (code !== 0) failed.push(name);
    sections.push(text.trim());
    console.log(`${text}\n`);
  }
  const seconds = Math.round((Date.now() - startedMs) / 1_000);
  const head = `# Figures\n\n${describeMachine()}\n\n\`npm run bench\` measures all figures in ${seconds} s. \`npm run bench -- NAME\` measures one figure. The lessons are in [notes.md](notes.md).`;
  writeFileSync(new URL('./results.md', import.meta.url), `${[head, ...sections].join('\n\n')}\n`);
  for (const name of failed) console.error(`${name} failed`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
