import { MINUTE_MS } from '../simulation-run.ts';
import { type Checker, withMoved } from './observation.ts';
import { createNewWrites, IN_FLIGHT_MS } from './outside.ts';

const STOPS = new Set(['pause_all', 'observe', 'restore', 'pause']);
const OF_ALL = new Set(['pause_all', 'observe', 'restore', 'resume_all', 'connect', 'remove_connection']);

/** Checks that groupsync writes no group while an operator has paused the group or its connection, or lets it observe. */
export function createPause(): Checker {
  const newWrites = createNewWrites();
  return (observation) => {
    const { seen, connections, accuse } = observation;
    for (const connection of connections) {
      const { name } = connection;
      for (const { write, group } of newWrites(connection)) {
        const past = seen.operators.actions.filter(
          (one) => one.connection === name && one.done && one.atMs <= write.atMs,
        );
        const groups = withMoved(observation, name, group);
        const last = [
          past.findLast(({ kind }) => OF_ALL.has(kind)),
          past.findLast((one) => groups.includes(one.group ?? '')),
        ];
        const stop = last.find((one) => one && STOPS.has(one.kind) && !one.crashed);
        if (stop === undefined || write.atMs - stop.atMs <= IN_FLIGHT_MS) continue;
        // Of a pause and a resume at the same time, either may take effect last.
        const isStart = ({ kind, atMs }: typeof stop) =>
          kind.startsWith('resume') && Math.abs(atMs - stop.atMs) < MINUTE_MS;
        if (past.some(isStart)) continue;
        const sentence = `An operator stopped ${stop.group ?? name} (${stop.kind}). Expected no write before a resume, but there was a ${write.action} of ${write.id}.`;
        accuse('pause', 'write', { connection: name, group }, sentence);
      }
    }
  };
}
