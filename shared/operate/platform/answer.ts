import { createHash } from 'node:crypto';
import type { Part, PlatformQuestion } from '../../contract/invocation.ts';
import { fieldName } from '../../contract/match-rule.ts';
import type { CredentialChecks, ListPart, PlatformReply } from '../../contract/platform-reply.ts';
import { contactText } from '../../plan/holder.ts';
import type { HealthStore } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import {
  type EmployeeRecord,
  type Platform,
  PlatformFailure,
  type Platforms,
} from '../../sync/ports/platform.ts';

/** The maximum size of a part of a list. It keeps an answer below 6 MB, the limit of Lambda. */
const MAX_BYTES = 4_000_000;
/** A worker sends all parts of the list of groups from one read of the platform, if this read is not older. */
const LIST_AGE_MS = 60_000;

export interface PlatformAnswerPorts {
  readonly platforms: Platforms;
  readonly health: Pick<HealthStore, 'read'>;
  readonly checkCredential: (connection: Connection) => Promise<CredentialChecks>;
}

export async function answerPlatformQuestion(
  connection: Connection,
  question: PlatformQuestion,
  ports: PlatformAnswerPorts,
): Promise<PlatformReply> {
  const answer = async () => ({ answer: await answerTo(question, connection, ports) });
  try {
    // After a refusal, the platform is opened again, because an operator may have replaced the credential.
    return await answer().catch((error: unknown) => {
      if (error instanceof PlatformFailure && error.kind === 'unauthorized') return answer();
      throw error;
    });
  } catch (error) {
    if (!(error instanceof PlatformFailure)) throw error;
    const { kind, status, retryAfterMs } = error;
    const { holder } = (kind === 'unauthorized' ? await ports.health.read(connection.name) : undefined) ?? {};
    const message = holder === undefined ? error.message : `${error.message}. ${contactText(holder)}`;
    return { failure: { kind, message, status, retryAfterMs } };
  }
}

async function answerTo(question: PlatformQuestion, connection: Connection, ports: PlatformAnswerPorts) {
  if ('credential' in question) return ports.checkCredential(connection);
  const platform = await ports.platforms.open(connection);
  if ('group' in question) return (await platform.groups.get(question.group)) ?? null;
  if ('groups' in question) {
    const maxAgeMs = question.groups.from === 0 ? 0 : LIST_AGE_MS;
    return partOf(await platform.groups.list(maxAgeMs), question.groups);
  }
  if ('employee' in question) {
    const found = await platform.employee(question.employee, question.fields);
    return found === undefined ? null : sent(found);
  }
  return partOf(await employeesOf(platform, question), question.employees);
}

async function employeesOf(platform: Platform, wanted: Parameters<Platform['employees']>[0]) {
  const found: object[] = [];
  for await (const page of platform.employees(wanted)) {
    if (page instanceof PlatformFailure) throw page;
    found.push(...page.map(sent));
  }
  return found;
}

const sent = ({ fields, ...employee }: EmployeeRecord) => ({
  ...employee,
  values: Object.fromEntries([...fields].map(([field, value]) => [fieldName(field), value])),
});

/** The digest differs if the list has changed after its earlier parts were sent. The command then starts again. */
function partOf(all: readonly object[], { from }: Part): ListPart {
  const texts = all.map((item) => JSON.stringify(item));
  const digest = createHash('sha256').update(texts.join('\n')).digest('hex');
  let bytes = 0;
  let next = from;
  while (next < all.length && (next === from || bytes + Buffer.byteLength(texts[next] ?? '') <= MAX_BYTES)) {
    bytes += Buffer.byteLength(texts[next] ?? '');
    next += 1;
  }
  return { items: all.slice(from, next), digest, ...(next < all.length && { next }) };
}
