import { Duration } from 'aws-cdk-lib';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { EVENT_SOURCES } from '../shared/contract/topology.ts';
import { ConnectorFunction, type ConnectorFunctionProps } from './connector-function.ts';
import { Lane } from './lane.ts';

interface WorkerProps extends Omit<ConnectorFunctionProps, 'timeoutSeconds'> {
  readonly name: keyof typeof EVENT_SOURCES;
  readonly delaySeconds?: number;
}

/** A queue, its dead letters and the function that works it off, failing messages one by one. */
export class Worker extends Construct {
  readonly lane: Lane;
  readonly worker: ConnectorFunction;

  constructor(scope: Construct, id: string, { delaySeconds, ...props }: WorkerProps) {
    super(scope, id);
    const source = EVENT_SOURCES[props.name];
    this.lane = new Lane(this, 'Lane', {
      prefix: props.settings.prefix,
      queue: source.queue,
      key: props.key,
      desk: props.desk,
      sources: props.name === 'ingest' ? Object.keys(props.settings.sources) : [],
      ...(delaySeconds === undefined ? {} : { delaySeconds }),
    });
    this.worker = new ConnectorFunction(this, 'Worker', {
      ...props,
      timeoutSeconds: source.functionTimeoutSeconds,
    });
    for (const [name, queue] of [['Source', this.lane.queue] as const, ...this.lane.ofSources]) {
      const mapping = new EventSourceMapping(this, queue === this.lane.queue ? name : `Source-${name}`, {
        target: this.worker.function,
        eventSourceArn: queue.queueArn,
        batchSize: source.batchSize,
        // FIFO queues take no window (Lambda API reference, CreateEventSourceMapping).
        ...(source.maximumBatchingWindowSeconds > 0
          ? { maxBatchingWindow: Duration.seconds(source.maximumBatchingWindowSeconds) }
          : {}),
        // Bounds what one stage takes of the account's executions, and of the platform's patience.
        maxConcurrency: source.maximumConcurrency,
        reportBatchItemFailures: true,
      });
      // Lambda checks that the role may read the queue when the mapping is made.
      mapping.node.addDependency(this.worker.role);
    }
  }
}
