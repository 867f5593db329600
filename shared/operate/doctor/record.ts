import { RecordedHops } from '../../contract/recorded-hop.ts';
import type { ToolPorts } from '../../sync/ports/bundles.ts';
import { platformsThroughFunction } from '../platform/through-function.ts';

/**
 * Returns ports that ask functions to record the answers of the platform and of the directory. Adds the records to
 * `hops`. Only functions call the platform and the directory, so no answer is missing.
 */
export function recordingPorts(ports: ToolPorts, hops: unknown[]): ToolPorts {
  const functions: ToolPorts['functions'] = {
    async run(name, event) {
      const answer = await ports.functions.run(name, { ...event, record: true });
      hops.push(...(RecordedHops.safeParse(answer).data?.hops ?? []));
      return answer;
    },
  };
  return { ...ports, functions, ...platformsThroughFunction({ functions, clock: ports.clock }) };
}
