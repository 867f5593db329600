import { z } from 'zod';
import { OUTPUT_SCHEMAS } from '../cli/schemas.ts';
import type { GeneratedFile } from './generated-file.ts';

const fileName = (command: string) => command.toLowerCase().replaceAll(' ', '-');

/** JSON Schemas of what the commands print with `--json`, from the very schemas that the tests hold them against. */
export const CLI_SCHEMAS: readonly GeneratedFile[] = Object.entries(OUTPUT_SCHEMAS).map(
  ([command, schema]) => ({
    path: `docs/cli/schemas/${fileName(command)}.schema.json`,
    content: () => {
      const { $schema, ...rest } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
      const title = `groupsync ${command} --json`;
      return `${JSON.stringify({ $schema, $id: `${fileName(command)}.schema.json`, title, ...rest }, null, 2)}\n`;
    },
  }),
);
