import type { Construct } from 'constructs';
import { type GroupSyncProps, GroupSync as Original } from '../../infra/group-sync.ts';
import { code } from './synthesised.ts';

/** The construct of the package, with functions that do nothing, because a checkout has no built functions. */
export class GroupSync extends Original {
  constructor(scope: Construct, id: string, props: GroupSyncProps) {
    super(scope, id, { code, ...props });
  }
}
