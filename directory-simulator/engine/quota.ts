import type { DirectoryError } from './dialect.ts';
import type { Simulation } from './simulation.ts';

/** Counts one request of a user or application. @throws {DirectoryError} above the limit per minute */
export type Quota = (caller: string) => void;

/** `exceeded` returns the dialect's error for a request above the limit. */
export function createQuota(simulation: Simulation, exceeded: () => DirectoryError): Quota {
  const counts = new Map<string, { minute: number; requests: number }>();
  return (caller) => {
    const most = simulation.settings().queriesPerMinute;
    if (most === null) return;
    const minute = Math.floor(simulation.clock() / 60_000);
    const before = counts.get(caller);
    const requests = (before?.minute === minute ? before.requests : 0) + 1;
    counts.set(caller, { minute, requests });
    if (requests > most) throw exceeded();
  };
}
