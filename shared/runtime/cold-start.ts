import * as z from 'zod';

/*
 * Every function imports this file first. It switches off work of zod that would delay the first answer of a new worker.
 *
 * Schemas read these settings when they are created. By default zod compiles each object schema at its first use. A worker
 * reads few documents of each kind, so compiling costs more time than it saves. `jitless` also avoids `new Function`. The
 * memoizer would search for values that contain themselves, which JSON and items of DynamoDB never do.
 */
const memoizer: z.core.$ZodMemoizer = { attach() {}, guard() {}, alloc: (_schema, _input, empty) => empty };
z.config({ jitless: true, memoizer });
