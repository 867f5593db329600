import type { ConnectionSettings } from '../../contract/settings.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { ConnectionStore } from '../../sync/ports/connections.ts';
import type { UserStore } from '../../sync/ports/desired.ts';
import type { GroupIndex } from '../../sync/ports/group-index.ts';
import type { GroupStore } from '../../sync/ports/groups.ts';
import type { Applicant } from '../../sync/ports/platform.ts';

export interface InspectPorts {
  readonly connections: Pick<ConnectionStore, 'companyOf'>;
  readonly index: Pick<GroupIndex, 'all'>;
  readonly groups: Pick<GroupStore, 'read' | 'members'>;
  readonly users: Pick<UserStore, 'read'>;
}

export interface InspectInput {
  readonly name: ConnectionName;
  readonly settings: ConnectionSettings;
  readonly applicant: Applicant;
}

/** What one employee shows of the fields asked for; a field that the credential may not see is absent. */
export type SampledEmployee = ReadonlyMap<string, string | null>;
