/** How a call failed, as the client reports it. */
export type FailureKind =
  /** The credential is not accepted. */
  | 'unauthorized'
  /** The credential may not make this call. Whether it may make others is unknown. */
  | 'forbidden'
  | 'not_found'
  /** Any other status outside 2xx and 5xx. */
  | 'rejected'
  /** The platform asked to wait (429): no work was done. */
  | 'throttled'
  /** The platform failed: 5xx, or an answer that is not as specified. */
  | 'unavailable'
  /** The answer was lost. */
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
  /** Whether the write behind this may have happened; a read never does. */
  readonly happened: 'no' | 'unknown';
  /** What the failure concerns; `probe`: a neutral call (`/me`) must show it. */
  readonly whose: 'connection' | 'group' | 'probe';
  readonly next: Next;
}

type Next =
  /** All groups wait if the failure concerns the connection; otherwise as `wait`. */
  | 'gate'
  /** Try later: the platform may accept the same request then. */
  | 'wait'
  /** Fetch the group: the platform shows whether the write took effect. */
  | 'settle'
  /** Fetch the group: it shows whether an external change came first or the content is refused. */
  | 'compare'
  /** Waiting does not help. */
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
 * Returns what a failed call means for the caller. Total: every kind, status and call has an entry.
 *
 *     failure                            | create       | change       | delete       | group  | groups | other
 *     -----------------------------------|--------------|--------------|--------------|--------|--------|-------
 *     never reached it                   | wait         | wait         | wait         | wait   | wait   | wait
 *     no answer, 408, 5xx, 3xx, 421      | settle ?     | settle ?     | settle ?     | wait   | wait   | wait
 *     2xx that is not as specified       | settle ?     | settle ?     | settle ?     | odd    | odd    | odd
 *     401, 402, 403                      | gate         | gate         | gate         | gate   | gate   | gate
 *     404, 410                           | gate         | gone *       | gone *       | gone * | gate   | refuse *
 *     any other 4xx                      | refuse *     | compare *    | refuse *     | refuse *        | refuse *
 *     429                                | gate !       | gate !       | gate !       | gate ! | gate ! | gate !
 *
 * `?`: the write may have happened; everywhere else it did not. The failure concerns the connection (`!`), the group (`*`),
 * or whatever a probe shows (no mark).
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
      // A redirect may be what follows a write.
      if (isWithin(status, 300) || status === 421) return unsure;
      return of(call === 'change' ? 'compare' : 'refuse');
  }
}

const isWithin = (status: number, hundred: number): boolean => status >= hundred && status < hundred + 100;
