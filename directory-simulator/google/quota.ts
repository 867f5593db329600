import type { Simulation } from '../engine/simulation.ts';
import { userRateLimitExceeded } from './errors.ts';

/** Counts the requests of each user per minute. @throws {DirectoryError} 403 `userRateLimitExceeded` */
export type Quota = (user: string) => void;

export function createQuota(simulation: Simulation): Quota {
  const counts = new Map<string, { minute: number; requests: number }>();
  return (user) => {
    const most = simulation.settings().queriesPerMinute;
    if (most === null) return;
    const minute = Math.floor(simulation.clock() / 60_000);
    const before = counts.get(user);
    const requests = (before?.minute === minute ? before.requests : 0) + 1;
    counts.set(user, { minute, requests });
    if (requests > most) throw userRateLimitExceeded();
  };
}
