import type { DeadLetterQueue } from '../../shared/sync/ports/queues.ts';
import { type EnginePorts, type PortsOptions, portsOver } from '../../simulate/engine.ts';

interface BenchPortsOptions
  extends Pick<PortsOptions, 'table' | 'sqs' | 'queueUrl' | 'dispatcher' | 'coalesceMs' | 'clock' | 'newId'> {
  readonly onSecretRead: () => void;
  readonly token: string;
}

export type BenchPorts = EnginePorts & { readonly deadLetters: DeadLetterQueue };

/** Returns the ports of the use cases with the given clients, clock and ids. The ports never sleep. */
export function benchPorts({ onSecretRead, token, ...options }: BenchPortsOptions): BenchPorts {
  const ports = portsOver({
    ...options,
    random: () => 0.5,
    sleep: async () => {},
    createSettleMs: 5_000,
    source: 'apply',
    secrets: {
      read: async () => {
        onSecretRead();
        return { value: { token }, version: '1' };
      },
      write: async () => '1',
    },
  });
  const deadLetters: DeadLetterQueue = {
    async send(deadLetters) {
      if (deadLetters.length === 0) return [];
      throw new Error(`expected no dead letter: ${deadLetters[0]?.code} ${deadLetters[0]?.message}`);
    },
  };
  return { ...ports, deadLetters };
}
