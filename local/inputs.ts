import { type EventLine, readEventFile, readTextFile } from './event-files.ts';
import { exampleEvents, exampleWorldFile } from './example.ts';
import { parseWorld, type WorldInput } from './platform/state/world.ts';
import { UsageError } from './usage.ts';

interface Inputs {
  readonly world: WorldInput;
  readonly events: readonly EventLine[];
}

/**
 * Reads all input files.
 * @param exampleEndMs the instant at which the bundled example's events end
 * @throws UsageError that names an unusable file
 */
export function readInputs(
  options: { events: readonly string[] | undefined; world: string | undefined; empty: boolean },
  exampleEndMs: number,
): Inputs {
  const world = readWorld(options.world ?? exampleWorldFile());
  if (options.empty) return { world, events: [] };
  const events = options.events?.flatMap(readEventFile) ?? exampleEvents(exampleEndMs);
  return { world, events };
}

function readWorld(file: string): WorldInput {
  const text = readTextFile(file, '--world');
  try {
    return parseWorld(JSON.parse(text));
  } catch (cause) {
    throw new UsageError(`--world ${file}: ${(cause as Error).message.replaceAll('\n', ' ')}`, { cause });
  }
}
