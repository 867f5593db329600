import type { ConnectionSettings } from '../../../contract/settings.ts';
import type { ConnectionName } from '../../../domain/ids.ts';
import type { ConnectionStore } from '../../ports/connections.ts';
import type { UserStore } from '../../ports/desired.ts';
import type { GroupIndex } from '../../ports/group-index.ts';
import type { GroupStore } from '../../ports/groups.ts';
import type { Applicant } from '../../ports/platform.ts';

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
