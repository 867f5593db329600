import type { Table } from '../shared/store/table.ts';
import type { Platform } from '../shared/sync/ports/platform.ts';
import { allStoresOver, type EnginePorts } from './engine.ts';
import type { Actor, WrapPorts } from './lambdas.ts';

/** Returns a bug that replaces methods of one port. */
export const at =
  <Name extends keyof EnginePorts>(
    name: Name,
    change: (port: EnginePorts[Name], ports: EnginePorts, actor: Actor) => Partial<EnginePorts[Name]>,
  ): WrapPorts =>
  (ports, actor) => ({ ...ports, [name]: Object.assign({}, ports[name], change(ports[name], ports, actor)) });

export type Bug = readonly [what: string, wrapPorts: WrapPorts, needs?: string];

const atPlatform = (change: (platform: Platform) => Partial<Platform>): WrapPorts =>
  at('platforms', (platforms) => ({
    open: async (...asked) => {
      const platform = await platforms.open(...asked);
      return { ...platform, ...change(platform) };
    },
  }));

export const atGroups = (change: (groups: Platform['groups']) => Partial<Platform['groups']>): WrapPorts =>
  atPlatform(({ groups }) => ({ groups: { ...groups, ...change(groups) } }));

/** Replaces methods of the table. All stores use the changed table. */
export const atTable =
  (change: (table: Table) => Partial<Table>): WrapPorts =>
  (ports) => {
    const table = { ...ports.table, ...change(ports.table) };
    return { ...ports, ...allStoresOver(table, 30), table };
  };
