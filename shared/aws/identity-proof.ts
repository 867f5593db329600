import { createHash } from 'node:crypto';
import { consoleActorId } from '../contract/person.ts';
import type { AuditActor } from '../sync/ports/logs.ts';
import type { Sdk } from './sdk.ts';

/*
 * Lambda does not tell a function who called it. Therefore a person who calls a function proves an identity: the person
 * signs the request GetCallerIdentity ("who am I") of AWS STS, and the function sends this request. The signature
 * covers a digest of the decision's text, so the proof is valid only for this text.
 */

const BODY = 'Action=GetCallerIdentity&Version=2011-06-15';
const ABOUT = 'x-groupsync-about';
/** How long a proof is valid. As for events, the clock of an operator may differ by up to 5 minutes. */
const VALID_MS = 5 * 60_000;
const TIMEOUT_MS = 10_000;
const FORWARDED = [
  'authorization',
  'content-type',
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-security-token',
  ABOUT,
];

type Headers = Readonly<Record<string, string>>;

const hostOf = (region: string) => `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

/** The digest includes the stage, so a proof for one stage is not valid for another stage. */
const digestOf = (text: string, stage: string) =>
  createHash('sha256').update(`${stage}\n${text}`).digest('hex');

export async function proveIdentity(
  text: string,
  stage: string,
  sdk: Pick<Sdk, 'region' | 'signer'>,
): Promise<Headers> {
  const hostname = hostOf(await sdk.region());
  const headers = {
    host: hostname,
    'content-type': 'application/x-www-form-urlencoded',
    [ABOUT]: digestOf(text, stage),
  };
  const signer = await sdk.signer('sts');
  const signed = await signer.sign({
    method: 'POST',
    protocol: 'https:',
    hostname,
    path: '/',
    query: {},
    headers,
    body: BODY,
  });
  return signed.headers as Headers;
}

interface Verification {
  readonly stage: string;
  readonly region: string;
  readonly nowMs: number;
  readonly fetch: typeof globalThis.fetch;
}

/** @returns the person who sent the text @throws Error if the proof is not valid for this text and stage */
export async function verifyIdentity(
  text: string,
  proof: Headers,
  { stage, region, nowMs, fetch }: Verification,
): Promise<AuditActor> {
  const given = Object.fromEntries(Object.entries(proof).map(([name, value]) => [name.toLowerCase(), value]));
  if (given[ABOUT] !== digestOf(text, stage)) throw refused('it is for another decision or another stage');
  const signed = /SignedHeaders=([^,\s]+)/.exec(given['authorization'] ?? '')?.[1]?.split(';') ?? [];
  if (!signed.includes(ABOUT) || !signed.includes('host'))
    throw refused('its signature does not cover the decision');
  if (!(Math.abs(timeOf(given['x-amz-date']) - nowMs) <= VALID_MS))
    throw refused('its time differs by more than 5 minutes');
  const headers = FORWARDED.flatMap((name) =>
    given[name] === undefined ? [] : [[name, given[name]] as [string, string]],
  );
  // The URL is fixed. If the sender chose the URL, a server of the sender could answer instead of AWS STS.
  const answer = await fetch(`https://${hostOf(region)}/`, {
    method: 'POST',
    headers,
    body: BODY,
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const arn = /<Arn>([^<]+)<\/Arn>/.exec(await answer.text())?.[1];
  if (!answer.ok || arn === undefined) throw refused(`AWS STS answered ${answer.status}`);
  return { kind: 'operator', id: arn, arn };
}

export const signedIn = (person: string): AuditActor => ({ kind: 'operator', id: consoleActorId(person) });

/**
 * Returns the person who decides. If the function of the console sends the decision, it must name a person, and this
 * person decides. Any other sender decides as itself and must not name a person.
 * @param consoleRole the ARN of the console's role; undefined if the stage has no console
 * @throws Error if a sender breaks these rules
 */
export function deciderOf(sender: AuditActor, person: string | undefined, consoleRole: string | undefined) {
  // A session of the role `arn:aws:iam::111122223333:role/NAME` has the ARN
  // `arn:aws:sts::111122223333:assumed-role/NAME/SESSION`.
  const sessions = consoleRole?.replace(/:iam:(.*):role\//, ':sts:$1:assumed-role/');
  const isConsole = sessions !== undefined && sender.arn?.startsWith(`${sessions}/`) === true;
  if (person !== undefined && isConsole) return signedIn(person);
  if (person === undefined && !isConsole) return sender;
  throw refused('only the console may name a person, and the console must name one');
}

const refused = (why: string) => new Error(`the proof of identity is refused: ${why}`);

/** Reads `20261120T100000Z`. @returns NaN for any other text */
const timeOf = (text = ''): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
