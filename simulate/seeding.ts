import type { EnginePorts } from './engine.ts';
import type { Actor, WrapPorts } from './lambdas.ts';

/** Returns a bug that replaces methods of one port. */
export const at =
  <Name extends keyof EnginePorts>(
    name: Name,
    change: (port: EnginePorts[Name], ports: EnginePorts, actor: Actor) => Partial<EnginePorts[Name]>,
  ): WrapPorts =>
  (ports, actor) => ({ ...ports, [name]: Object.assign({}, ports[name], change(ports[name], ports, actor)) });

export type Bug = readonly [what: string, wrapPorts: WrapPorts, needs?: string];
