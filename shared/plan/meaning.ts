/** The kind of a failed call, as the client reports it. */
export type FailureKind =
  /** The platform does not accept the credential. */
  | 'unauthorized'
  /** The credential has no right for this call. It may have the right for other calls. */
  | 'forbidden'
  | 'not_found'
  /** The platform answered with a 3xx or 4xx status that has no entry of its own here. */
  | 'rejected'
  /** The platform asked the client to wait (429). The request had no effect. */
  | 'throttled'
  /** The platform answered 5xx, or its answer does not match the specification. */
  | 'unavailable'
  /** The client sent the request and got no answer. */
  | 'unanswered'
  /** The request certainly never reached the platform. */
  | 'unreached';

/** The kind of call: a write, a read of one group (`group`), a read of the list (`groups`), or another. */
export type CallKind = 'create' | 'change' | 'delete' | 'group' | 'groups' | 'other';

export interface Failed {
  readonly kind: FailureKind;
  readonly status?: number | undefined;
}

interface Meaning {
  /** Whether the failed write may have taken effect; `no` for a read. */
  readonly happened: 'no' | 'unknown';
  /** The failure concerns the connection or the group. With `probe`, a call of `/me` must show which of the two. */
  readonly whose: 'connection' | 'group' | 'probe';
  readonly next: Next;
}

type Next =
  /** If the failure concerns the connection, the gate closes. Otherwise the caller acts as for `wait`. */
  | 'gate'
  /** The caller tries later, because the platform may accept the same request later. */
  | 'wait'
  /** The caller fetches the group to see whether the write took effect. */
  | 'settle'
  /** The caller fetches the group to see whether the platform refused the version or the content of the write. */
  | 'compare'
  /** The platform will refuse the same request again. */
  | 'refuse'
  | 'gone'
  /** The answer is malformed. */
  | 'invalid';

const WRITES: ReadonlySet<CallKind> = new Set(['create', 'change', 'delete']);

const WAIT: Meaning = { happened: 'no', whose: 'probe', next: 'wait' };
const UNSURE: Meaning = { happened: 'unknown', whose: 'probe', next: 'settle' };
const ASK: Meaning = { happened: 'no', whose: 'probe', next: 'gate' };
const of = (next: Next): Meaning => ({ happened: 'no', whose: 'group', next });

const NOT_FOUND: Readonly<Record<CallKind, Meaning>> = {
  create: ASK,
  change: of('gone'),
  delete: of('gone'),
  group: of('gone'),
  groups: ASK,
  other: of('refuse'),
};

/**
 * Returns the meaning of a failed call for the caller. The table covers every kind, status and call.
 *
 *     failure                            | create       | change       | delete       | group      | groups     | other
 *     -----------------------------------|--------------|--------------|--------------|------------|------------|-----------
 *     never reached the platform         | wait         | wait         | wait         | wait       | wait       | wait
 *     no answer, 408, 5xx, 3xx, 421      | settle ?     | settle ?     | settle ?     | wait       | wait       | wait
 *     2xx that is not as specified       | settle ?     | settle ?     | settle ?     | invalid    | invalid    | invalid
 *     401, 402, 403                      | gate         | gate         | gate         | gate       | gate       | gate
 *     404, 410                           | gate         | gone *       | gone *       | gone *     | gate       | refuse *
 *     any other 4xx                      | refuse *     | compare *    | refuse *     | refuse *                | refuse *
 *     429                                | gate !       | gate !       | gate !       | gate !     | gate !     | gate !
 *
 * `?` means that the write may have taken effect. Without `?`, the write had no effect. `!` means that the failure
 * concerns the connection. `*` means that the failure concerns the group. Without `!` or `*`, a probe shows whether the
 * failure concerns the connection or the group.
 */
export function meaningOf({ kind, status = 0 }: Failed, call: CallKind = 'other'): Meaning {
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
      return unsure === WAIT && isWithin(status, 200) ? { ...WAIT, next: 'invalid' } : unsure;
    case 'rejected':
      // The platform may answer with a redirect after the write took effect.
      if (isWithin(status, 300) || status === 421) return unsure;
      return of(call === 'change' ? 'compare' : 'refuse');
  }
}

const isWithin = (status: number, hundred: number): boolean => status >= hundred && status < hundred + 100;
