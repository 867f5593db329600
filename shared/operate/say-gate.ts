import type { StatusReport } from '../contract/answers.ts';

/** A platform's answer may be quoted in a reason; --json shows all of it. */
const REASON_SHOWN = 160;

export const shortened = (text: string): string =>
  text.length <= REASON_SHOWN ? text : `${text.slice(0, REASON_SHOWN - 1)}…`;

/** What opens a gate, or says more of it. */
export const mendOf = (gate: Pick<StatusReport['gate'], 'state'>, connection: string): string | undefined =>
  ({
    open: undefined,
    paused: 'groupsync resume',
    unauthorized: `groupsync connect ${connection}`,
    backoff: 'groupsync doctor --faults',
  })[gate.state];

/** The gate as a sentence: what is closed, why, and when it is tried again. */
export function sayGate({ state, reason, until }: StatusReport['gate']): string {
  const why = reason === null ? 'no reason given' : shortened(reason);
  switch (state) {
    case 'open':
      return 'open';
    case 'paused':
      return `paused: nothing is written until somebody resumes (${why})`;
    case 'unauthorized':
      return `unauthorized: the platform does not accept the credential (${why})`;
    case 'backoff':
      return `backoff: the platform is not well (${why})${until === null ? '' : `; next try at ${until.slice(0, 19)}Z`}`;
  }
}
