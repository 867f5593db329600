import { HOUR_MS } from '../../domain/duration.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { Episode, Finding } from '../../domain/notice.ts';
import {
  afterNotice,
  beforeNotice,
  EXPIRES_SOON_MS,
  isNoticeDue,
  noticeOf,
  observe,
  stageFindings,
} from '../../plan/notice.ts';
import type { DriftLog, NoticeStore, ScimTokenStore } from '../ports/bundles.ts';
import type { Notifier } from '../ports/notices.ts';
import type { SweepRun } from './sweep.ts';

export interface NotifyPorts {
  readonly notices: NoticeStore;
  readonly notifier: Notifier;
  readonly clock: () => number;
  readonly drift: Pick<DriftLog, 'since'>;
  readonly tokens: Pick<ScimTokenStore, 'list'>;
  readonly deadLetterCount: () => Promise<number>;
}

/**
 * Notifies operators when an episode begins, grows or ends. The attempt is stored before the notice is sent, so that
 * only one of two concurrent workers sends the notice. If the worker crashes after it stored the attempt, a notice with
 * the latest state is sent 15 minutes later. If one target fails, the failure is stored, and the other targets still
 * get the notice. A notice that no target accepted is sent again.
 * @param connection undefined for the whole stage
 * @param pagesOf the connection under which the console shows the findings
 */
export async function notify(
  found: readonly Finding[],
  { notices, notifier, clock }: Pick<NotifyPorts, 'notices' | 'notifier' | 'clock'>,
  connection?: ConnectionName,
  pagesOf = connection,
): Promise<void> {
  if (notifier.targets.length === 0) return;
  const nowMs = clock();
  const board = await notices.read(connection);
  const checked = found.map(({ subject }) => subject);
  const episodes = observe(board.episodes, found, { checked, nowMs });
  const isDue = new Map(episodes.map((episode) => [episode.subject, isNoticeDue(episode, nowMs)]));
  const tried = episodes.map((one) => (isDue.get(one.subject) ? beforeNotice(one, nowMs) : one));
  if (JSON.stringify(tried) === JSON.stringify(board.episodes)) return;
  const claimed = await notices.write({ ...board, episodes: tried }, connection);
  if (claimed === undefined || ![...isDue.values()].includes(true)) return;
  const failures: string[] = [];
  const send = async (episode: Episode) => {
    const notice = noticeOf(episode, { ...notifier, pagesOf }, connection);
    const failed = await notifier.send(notice, episode);
    for (const [target, why] of failed) failures.push(`${target}: ${why}`);
    return afterNotice(episode, { isSent: failed.size < notifier.targets.length });
  };
  const sent = await Promise.all(tried.map((one) => (isDue.get(one.subject) ? send(one) : one)));
  const [message] = failures;
  const lastFailure = message === undefined ? {} : { lastFailure: { atMs: nowMs, message } };
  await notices.write({ episodes: sent, change: claimed.change, ...lastFailure }, connection);
}

/** Notifies about drift of the last hour in the mode `report`, and about SCIM tokens that expire soon. */
export async function notifyOfHour(connection: ConnectionName, ports: NotifyPorts): Promise<void> {
  if (ports.notifier.targets.length === 0) return;
  const nowMs = ports.clock();
  const reported: number[] = [];
  for await (const page of ports.drift.since(connection, nowMs - HOUR_MS)) {
    for (const one of page) if (one.settledBy === 'report') reported.push(one.settledAtMs ?? nowMs);
  }
  const expiring = (await ports.tokens.list(connection)).filter(
    ({ expiresMs = 0, revokedMs }) =>
      revokedMs === undefined && expiresMs > nowMs && expiresMs <= nowMs + EXPIRES_SOON_MS,
  );
  const drift = { subject: 'drift', count: reported.length, sinceMs: Math.min(nowMs, ...reported) } as const;
  await notify([drift, { subject: 'token', count: expiring.length }], ports, connection);
}

/** Notifies about linked groups that the platform does not list, if they are so many that groupsync waits. */
export async function notifyOfSweep(
  connection: ConnectionName,
  run: Pick<SweepRun, 'halted' | 'report'> | undefined,
  ports: NotifyPorts,
): Promise<void> {
  if (run === undefined) return;
  await notify([{ subject: 'missing', count: run.halted ? run.report.missing : 0 }], ports, connection);
}

interface StageRun {
  readonly found: ReadonlyMap<ConnectionName, readonly Finding[]>;
  /** Whether the run has the findings of all connections. Otherwise no problem counts as ended. */
  readonly isWhole: boolean;
  /** The connection under which the console shows dead-lettered messages. */
  readonly pagesOf?: ConnectionName | undefined;
}

/** Notifies about the problems of all connections together, and about dead-lettered messages. */
export async function notifyOfStage({ found, isWhole, pagesOf }: StageRun, ports: NotifyPorts) {
  if (ports.notifier.targets.length === 0) return;
  const findings = stageFindings(found, ports.clock()).filter(({ count }) => isWhole || count > 0);
  const deadLetters = { subject: 'dead_letters', count: await ports.deadLetterCount() } as const;
  await notify([...findings, deadLetters], ports, undefined, pagesOf);
}
