import type { GroupField } from './group-fields.ts';
import type { PlatformUserId } from './ids.ts';
import type { Stamp } from './stamp.ts';

/**
 * Differences that stay as somebody else made them, because the connection's policy says so. `report` lets them stand
 * until the directory next says anything about the group; `adopt` until it next says something about the very thing.
 */
export interface Waiver extends Readonly<Record<GroupField, boolean>> {
  readonly policy: 'report' | 'adopt';
  /** The newest stamp in the group when the difference was seen. */
  readonly seen: Stamp;
  /** In the platform's group although the directory does not want them. */
  readonly present: ReadonlySet<PlatformUserId>;
  /** Not in it although the directory wants them. */
  readonly absent: ReadonlySet<PlatformUserId>;
}
