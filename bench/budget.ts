import { readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { countScheduledHour } from './figures/fleet.ts';
import { countCalls, SCENARIOS } from './figures/scenarios.ts';
import type { Counts } from './memory/totals.ts';

/*
 * The regression check compares counts of requests, capacity units and messages, because they are equal on every
 * machine. It compares no times.
 */

const FILE = new URL('./budget.json', import.meta.url);
const Budget = z.record(z.string(), z.record(z.string(), z.number()));

/** @returns the exit code */
export async function checkBudget(): Promise<number> {
  const budget = Budget.parse(JSON.parse(readFileSync(FILE, 'utf8')));
  const counted = await countAll();
  const worse = differences(counted, budget, (now, allowed) => now > allowed);
  const better = differences(counted, budget, (now, allowed) => now < allowed);
  const unknown = Object.keys(budget).filter((name) => !(name in counted));
  for (const line of worse) console.error(`more than bench/budget.json allows: ${line}`);
  for (const name of unknown) console.error(`bench/budget.json has "${name}", but there is no such scenario`);
  for (const line of better) console.log(`less than bench/budget.json allows: ${line}`);
  if (better.length > 0) console.log('to store the lower counts: npm run bench -- --update-budget');
  if (worse.length === 0)
    console.log(`${Object.keys(counted).length} scenarios are within bench/budget.json`);
  return worse.length + unknown.length > 0 ? 1 : 0;
}

export async function updateBudget(): Promise<void> {
  writeFileSync(FILE, `${JSON.stringify(await countAll(), null, 2)}\n`);
}

export async function countAll(): Promise<Readonly<Record<string, Counts>>> {
  const counted: Record<string, Counts> = {};
  for (const scenario of SCENARIOS) counted[scenario.name] = await countCalls(scenario);
  counted['an hour without changes, ten companies with 25 groups each'] = await countScheduledHour();
  return counted;
}

function differences(
  counted: Readonly<Record<string, Counts>>,
  budget: z.infer<typeof Budget>,
  isListed: (now: number, allowed: number) => boolean,
): readonly string[] {
  return Object.entries(counted).flatMap(([scenario, counts]) => {
    const allowed = budget[scenario] ?? {};
    const names = [...new Set([...Object.keys(counts), ...Object.keys(allowed)])].sort();
    return names
      .filter((name) => isListed(counts[name] ?? 0, allowed[name] ?? 0))
      .map((name) => `${scenario}: ${name} ${counts[name] ?? 0}, budget ${allowed[name] ?? 0}`);
  });
}
