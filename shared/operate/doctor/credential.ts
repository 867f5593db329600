import type { Check } from '../../contract/answers/connect.ts';
import type { CredentialChecks } from '../../contract/platform-reply.ts';
import { duration } from '../../domain/duration.ts';
import { contactText, leavesSoon } from '../../plan/holder.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Connection } from '../../sync/ports/connections.ts';
import { type Applicant, type StoredApplicants, withoutCutJson } from '../../sync/ports/platform.ts';
import { checkFields, neededFields } from '../connect/inspect.ts';
import { plural } from '../names.ts';
import { check, connectAgain, fault, fixOfCall, guarded, messageOf, passed } from './check.ts';

type CredentialPorts = Pick<ToolPorts, 'gates' | 'health' | 'clock'> & {
  readonly applicants: StoredApplicants;
};

/**
 * Checks the stored credential of a connection and its rights on the platform. This runs in a function, because only
 * functions may read the credential.
 */
export async function checkCredential(
  { name, company, settings }: Connection,
  ports: CredentialPorts,
): Promise<CredentialChecks> {
  const reconnect = connectAgain(name);
  let applicant: Applicant;
  try {
    applicant = await ports.applicants.stored(name, settings.baseUrl);
  } catch (error) {
    return { checks: [fault('secret', messageOf(error), reconnect)] };
  }
  const me = await applicant.me().catch((error: unknown) => error as Error);
  const checks: Check[] = [passed('secret', 'readable')];
  const fixOf = (error: unknown) => fixOfCall(error, name, ports);
  if (me instanceof Error) {
    const fix = (await fixOf(me)) ?? reconnect;
    const { holder } = (await ports.health.read(name)) ?? {};
    const whose = holder === undefined ? '' : `. ${contactText(holder)}`;
    const refused = fault('credential', `${withoutCutJson(me.message)}${whose}`, fix);
    return { checks: [...checks, refused, ...(await checkDaily(name, fix, ports))] };
  }
  checks.push(
    check('company', me.company === company, {
      detail: `the credential belongs to ${me.company}`,
      fix: `the connection was made for ${company}: give it a token of that company\n${reconnect}`,
    }),
    ...(await checkDaily(name, undefined, ports)),
    ...(await checkHolder(name, ports)),
    ...(await guarded(
      'groups permission',
      async () =>
        passed('groups permission', `${plural((await applicant.groups()).length, 'group')} on the platform`),
      fixOf,
    )),
    ...(await guarded(
      'employees',
      async () => {
        const sample = await firstPage(applicant, neededFields(settings), settings.includeStates);
        return checkFields(settings, sample);
      },
      fixOf,
    )),
  );
  return { checks };
}

/** Checks whether the employment of the credential's user ends soon. The daily check has stored this user. */
async function checkHolder(name: Connection['name'], { health, clock }: CredentialPorts) {
  const { holder } = (await health.read(name)) ?? {};
  if (holder === undefined) return [];
  const { user, lastDay } = holder;
  return [
    check('credential holder', !leavesSoon(holder, clock()), {
      detail: lastDay === undefined ? user : `the platform user ${user}; the employment ends on ${lastDay}`,
      fix: `the platform ends the credential with the employment: another administrator must install the app\n${connectAgain(name)}`,
    }),
  ];
}

/** @param fix how to fix the credential; undefined if the platform accepts the credential now */
async function checkDaily(
  name: Connection['name'],
  fix: string | undefined,
  { health, clock }: CredentialPorts,
) {
  const { lastFailure, goodAtMs } = (await health.read(name)) ?? {};
  if (lastFailure === undefined || lastFailure.atMs <= (goodAtMs ?? 0)) return [];
  const failed = withoutCutJson(lastFailure.message);
  if (fix !== undefined) return [fault('daily check', failed, fix)];
  const ago = duration(clock() - lastFailure.atMs);
  return [passed('daily check', `failed ${ago} ago: ${failed}; the credential is accepted now`)];
}

async function firstPage(applicant: Applicant, fields: readonly string[], states: readonly string[]) {
  for await (const page of applicant.employees(fields, states)) return page;
  return [];
}
