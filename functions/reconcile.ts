import '../shared/runtime/cold-start.ts';
import type { Context } from 'aws-lambda';
import { DecisionRequest } from '../shared/contract/decision.ts';
import { AskInvocation, DecideInvocation, ReconcileInvocation } from '../shared/contract/invocation.ts';
import type { PlatformReply } from '../shared/contract/platform-reply.ts';
import { answerDecision, type DecisionAnswer } from '../shared/operate/decisions.ts';
import { answerPlatformQuestion } from '../shared/operate/platform/answer.ts';
import { requireConnection } from '../shared/operate/settings.ts';
import { AT_ONCE, eachConnection } from '../shared/runtime/each-connection.ts';
import { errorFields, loggable } from '../shared/runtime/logger.ts';
import { recording } from '../shared/runtime/recorder.ts';
import { runReconcile } from '../shared/runtime/run-reconcile.ts';
import { wireReconcile } from '../shared/runtime/wire-reconcile.ts';
import { notifyOfStage } from '../shared/sync/reconcile/notify.ts';
import { once } from './frame/once.ts';
import { requireOwnConnection } from './frame/own-connection.ts';

const wired = once(wireReconcile);
/** Time that is reserved at the end of a run, to store the progress and to return the report. */
const RESERVE_MS = 30_000;

/**
 * Runs one task for one connection or for all, carries out an operator's decision, or answers an operator's question.
 * The schedules and operators invoke this function.
 */
export async function handler(
  event: unknown,
  context: Pick<Context, 'getRemainingTimeInMillis' | 'invokedFunctionArn'>,
): Promise<{ readonly reports: readonly unknown[] } | DecisionAnswer | PlatformReply> {
  const { ports, deciding, asked, ...base } = wired();
  const leftMs = Math.max(1_000, context.getRemainingTimeInMillis() - RESERVE_MS);
  const decided = DecideInvocation.safeParse(event);
  if (decided.success) {
    const decision = DecisionRequest.parse(JSON.parse(decided.data.decision));
    requireOwnConnection(context, decision.connection);
    return answerDecision(decision, await deciding(decided.data), AbortSignal.timeout(leftMs));
  }
  const question = AskInvocation.safeParse(event);
  if (question.success) {
    const { connection, question: about, record } = question.data;
    requireOwnConnection(context, connection);
    const found = await requireConnection(connection, asked);
    return recording(record, () => answerPlatformQuestion(found, about, asked));
  }
  const invocation = ReconcileInvocation.parse(event);
  requireOwnConnection(context, invocation.connection);
  const deadlineMs = ports.clock() + leftMs;
  const found: Parameters<typeof runReconcile>[2]['found'] = new Map();
  const { task, connection: only } = invocation;
  const { reports, failure, first } = await eachConnection(
    { ...base, connections: ports.connections, only, atOnce: AT_ONCE[task], sleep: ports.sleep },
    (connection) => runReconcile(connection, invocation, { ports, deadlineMs, found }),
  );
  await ports.recordCalls();
  // The metric is sent even if a connection failed. Without the metric, an alarm would report that the job did not run.
  if (invocation.task === 'pump') {
    base.metrics.count('PumpCompleted');
    const isWhole = failure === undefined && invocation.connection === undefined;
    await notifyOfStage({ found, isWhole, pagesOf: first }, ports).catch((error) =>
      base.logger.error('the notices could not be sent', errorFields(error)),
    );
  }
  if (invocation.task === 'health' && invocation.connection === undefined) {
    base.logger.info('the data of members who left was erased', await ports.eraser.leavers(ports.clock()));
  }
  if (invocation.task === 'sweep') base.metrics.count('SweepCompleted');
  if (failure !== undefined) throw loggable(failure.error);
  return { reports };
}
