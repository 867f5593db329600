/** The platform's user behind a credential. All tokens of an app end when the person who installed it leaves. */
export interface Holder {
  readonly user: string;
  /** The last day of the user's employment, YYYY-MM-DD, if an end is known. */
  readonly lastDay?: string;
}

/**
 * Returns a text that names the person who can replace the credential. It has only the id of the person, because it may
 * be logged.
 */
export const contactText = ({ user }: Holder): string =>
  `Contact the person who installed the app, or another administrator: the platform user is ${user}`;

/** From this time before the last day, a warning asks that another person installs the app. */
const WARN_BEFORE_MS = 30 * 86_400_000;

/** Whether the person has left, or leaves within 30 days. */
export const leavesSoon = (holder: Holder | undefined, nowMs: number): boolean =>
  holder?.lastDay !== undefined && Date.parse(holder.lastDay) - nowMs <= WARN_BEFORE_MS;
