import type { ConnectionSettings } from '../../contract/settings.ts';
import type { ConnectionName } from '../../domain/ids.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import type { Applicant } from '../../sync/ports/platform.ts';

export type InspectPorts = Pick<ToolPorts, 'connections' | 'index' | 'groups' | 'users'>;

export interface InspectInput {
  readonly name: ConnectionName;
  readonly settings: ConnectionSettings;
  readonly applicant: Applicant;
}

/** What one employee shows of the fields asked for; a field that the credential may not see is absent. */
export type SampledEmployee = ReadonlyMap<string, string | null>;
