/** dynalite ships no types. These declarations cover what the local stack uses. */
declare module 'dynalite' {
  import type { Server } from 'node:http';

  export interface DynaliteOptions {
    /** Folder of the LevelDB store. Without a folder, the data is in memory. */
    path?: string | undefined;
    createTableMs?: number;
    deleteTableMs?: number;
    updateTableMs?: number;
  }
  export default function dynalite(options?: DynaliteOptions): Server;
}

declare module 'dynalite/db/*Parser.js' {
  const parser: import('./expressions.ts').ExpressionParser;
  export default parser;
}

declare module 'dynalite/db/index.js' {
  const database: { updateIndexes(...stored: readonly [...unknown[], done: () => void]): void };
  export default database;
}
