import * as z from 'zod';

/*
 * Changes two defaults of zod that delay the first answer of a new worker. Every function imports this file first,
 * because a schema reads these settings when it is created.
 *
 * - Compilation: by default zod compiles an object schema at its first use. A worker reads only few documents of each
 *   kind, so compiling costs more time than it saves. `jitless` also avoids `new Function`.
 * - Memoizer: it detects values that contain themselves. JSON and items of DynamoDB never contain themselves.
 */
const memoizer: z.core.$ZodMemoizer = { attach() {}, guard() {}, alloc: (_schema, _input, empty) => empty };
z.config({ jitless: true, memoizer });
