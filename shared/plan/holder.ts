/** The platform user who installed the app of a credential. All tokens of the app expire when this user leaves. */
export interface Holder {
  readonly user: string;
  /** The last day of the user's employment, as YYYY-MM-DD, if the day is known. */
  readonly lastDay?: string;
}

/** Returns a text that names who can replace the credential, by id only, because the text may be logged. */
export const contactText = ({ user }: Holder): string =>
  `Contact the person who installed the app, or another administrator: the platform user is ${user}`;

/** A warning begins this long before the last day. The warning asks that another person installs the app. */
const WARN_BEFORE_MS = 30 * 86_400_000;

/** Whether the person has left, or leaves within 30 days. */
export const leavesSoon = (holder: Holder | undefined, nowMs: number): boolean =>
  holder?.lastDay !== undefined && Date.parse(holder.lastDay) - nowMs <= WARN_BEFORE_MS;
