/** The kind of a failed call, as the client reports it. */
export type FailureKind =
  /** The platform does not accept the credential. */
  | 'unauthorized'
  /** The credential may not make this call. The credential may still be able to make other calls. */
  | 'forbidden'
  | 'not_found'
  /** The platform answered with any other status that is neither 2xx nor 5xx. */
  | 'rejected'
  /** The platform asked the client to wait (429). The request had no effect. */
  | 'throttled'
  /** The platform failed, with a 5xx or an answer that is not as specified. */
  | 'unavailable'
  /** The client got no answer. */
  | 'unanswered'
  /** The request certainly never reached the platform. */
  | 'unreached';

/** The kind of call: a write of a group, one group by its id, the list of groups, or another call. */
export type Call = 'create' | 'change' | 'delete' | 'group' | 'groups' | 'other';

export interface Failed {
  readonly kind: FailureKind;
  readonly status?: number | undefined;
}

export interface Meaning {
  /** Whether the failed write may have taken effect; `no` for a read. */
  readonly happened: 'no' | 'unknown';
  /** What the failure concerns. With `probe`, a call of `/me`, which is not about a group, must show this. */
  readonly whose: 'connection' | 'group' | 'probe';
  readonly next: Next;
}

type Next =
  /** If the failure concerns the connection, the gate closes and all groups wait. Otherwise, the same as `wait`. */
  | 'gate'
  /** The caller tries later, because the platform may then accept the same request. */
  | 'wait'
  /** The caller fetches the group, which shows whether the write took effect. */
  | 'settle'
  /** The caller fetches the group, which shows whether the write had a conflict or its content is refused. */
  | 'compare'
  /** The platform will refuse the same request again. */
  | 'refuse'
  /** The group seems to be gone. */
  | 'gone'
  /** The answer is malformed. */
  | 'odd';

const WRITES: ReadonlySet<Call> = new Set(['create', 'change', 'delete']);

const WAIT: Meaning = { happened: 'no', whose: 'probe', next: 'wait' };
const UNSURE: Meaning = { happened: 'unknown', whose: 'probe', next: 'settle' };
const ASK: Meaning = { happened: 'no', whose: 'probe', next: 'gate' };
const of = (next: Next): Meaning => ({ happened: 'no', whose: 'group', next });

const NOT_FOUND: Readonly<Record<Call, Meaning>> = {
  create: ASK,
  change: of('gone'),
  delete: of('gone'),
  group: of('gone'),
  groups: ASK,
  other: of('refuse'),
};

/**
 * Returns the meaning of a failed call for the caller. Every kind, status and call has an entry.
 *
 *     failure                            | create       | change       | delete       | group  | groups | other
 *     -----------------------------------|--------------|--------------|--------------|--------|--------|-------
 *     never reached the platform         | wait         | wait         | wait         | wait   | wait   | wait
 *     no answer, 408, 5xx, 3xx, 421      | settle ?     | settle ?     | settle ?     | wait   | wait   | wait
 *     2xx that is not as specified       | settle ?     | settle ?     | settle ?     | odd    | odd    | odd
 *     401, 402, 403                      | gate         | gate         | gate         | gate   | gate   | gate
 *     404, 410                           | gate         | gone *       | gone *       | gone * | gate   | refuse *
 *     any other 4xx                      | refuse *     | compare *    | refuse *     | refuse *        | refuse *
 *     429                                | gate !       | gate !       | gate !       | gate ! | gate ! | gate !
 *
 * `?` means that the write may have taken effect. In all other cases it had no effect. `!` means that the failure
 * concerns the connection, and `*` that it concerns the group. Without a mark, a probe shows which of the two it
 * concerns.
 */
export function meaningOf({ kind, status = 0 }: Failed, call: Call = 'other'): Meaning {
  const unsure = WRITES.has(call) ? UNSURE : WAIT;
  switch (kind) {
    case 'throttled':
      return { happened: 'no', whose: 'connection', next: 'gate' };
    case 'unauthorized':
    case 'forbidden':
      return ASK;
    case 'not_found':
      return NOT_FOUND[call];
    case 'unreached':
      return WAIT;
    case 'unanswered':
      return unsure;
    case 'unavailable':
      return unsure === WAIT && isWithin(status, 200) ? { ...WAIT, next: 'odd' } : unsure;
    case 'rejected':
      // A redirect may be the answer to a write that took effect.
      if (isWithin(status, 300) || status === 421) return unsure;
      return of(call === 'change' ? 'compare' : 'refuse');
  }
}

const isWithin = (status: number, hundred: number): boolean => status >= hundred && status < hundred + 100;
