import type { ConnectionName } from '../../domain/ids.ts';
import type { Episode, Finding } from '../../domain/notice.ts';
import { afterTelling, beforeTelling, isToBeTold, noticeOf, observe } from '../../plan/notice.ts';
import type { DriftLog } from '../ports/logs.ts';
import type { NoticeStore, Notifier } from '../ports/notices.ts';
import type { ScimTokenStore } from '../ports/scim.ts';
import { ENDS_SOON_MS } from '../scim/tokens.ts';

export interface NotifyPorts {
  readonly notices: NoticeStore;
  readonly notifier: Notifier;
  readonly clock: () => number;
  readonly drift: Pick<DriftLog, 'since'>;
  readonly tokens: Pick<ScimTokenStore, 'list'>;
  /** In both dead-letter queues of the stage. */
  readonly deadLetterCount: () => Promise<number>;
}

const HOUR_MS = 3_600_000;

/**
 * Tells people what begins, grows and ends. The attempt is recorded before it is made, so that of two workers one tells;
 * after a crash between telling and recording, what is so then is told 15 minutes later: the same again, or the opposite.
 * A target that fails is recorded and stops nothing; what no target took is tried again.
 * @param connection undefined: of the whole stage
 */
export async function notify(
  found: readonly Finding[],
  { notices, notifier, clock }: Pick<NotifyPorts, 'notices' | 'notifier' | 'clock'>,
  connection?: ConnectionName,
): Promise<void> {
  if (notifier.targets.length === 0) return;
  const nowMs = clock();
  const board = await notices.read(connection);
  const checked = found.map(({ subject }) => subject);
  const episodes = observe(board.episodes, found, { checked, nowMs });
  const isDue = new Map(episodes.map((episode) => [episode.subject, isToBeTold(episode, nowMs)]));
  const tried = episodes.map((one) => (isDue.get(one.subject) ? beforeTelling(one, nowMs) : one));
  if (JSON.stringify(tried) === JSON.stringify(board.episodes)) return;
  const claimed = await notices.write({ ...board, episodes: tried }, connection);
  if (claimed === undefined || ![...isDue.values()].includes(true)) return;
  const failures: string[] = [];
  const tell = async (episode: Episode) => {
    const failed = await notifier.tell(noticeOf(episode, notifier.prefix, connection));
    for (const [target, why] of failed) failures.push(`${target}: ${why}`);
    return afterTelling(episode, { isSent: failed.size < notifier.targets.length });
  };
  const told = await Promise.all(tried.map((one) => (isDue.get(one.subject) ? tell(one) : one)));
  const [message] = failures;
  const lastFailure = message === undefined ? {} : { lastFailure: { atMs: nowMs, message } };
  await notices.write({ episodes: told, change: claimed.change, ...lastFailure }, connection);
}

/** Tells of differences that were only reported in this hour, and of SCIM tokens that end soon. */
export async function notifyOfHour(connection: ConnectionName, ports: NotifyPorts): Promise<void> {
  if (ports.notifier.targets.length === 0) return;
  const nowMs = ports.clock();
  const reported: number[] = [];
  for await (const page of ports.drift.since(connection, nowMs - HOUR_MS)) {
    for (const one of page) if (one.settledBy === 'report') reported.push(one.settledAtMs ?? nowMs);
  }
  const ending = (await ports.tokens.list(connection)).filter(
    ({ expiresMs = 0, revokedMs }) =>
      revokedMs === undefined && expiresMs > nowMs && expiresMs <= nowMs + ENDS_SOON_MS,
  );
  const drift = { subject: 'drift', count: reported.length, sinceMs: Math.min(nowMs, ...reported) } as const;
  await notify([drift, { subject: 'token', count: ending.length }], ports, connection);
}

/** Dead letters are of the whole stage. */
export async function notifyOfStage(ports: NotifyPorts): Promise<void> {
  if (ports.notifier.targets.length === 0) return;
  await notify([{ subject: 'dead_letters', count: await ports.deadLetterCount() }], ports);
}
