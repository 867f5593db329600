import { setFlagsFromString } from 'node:v8';
import * as z from 'zod';

/*
 * Imported first by every function: what a new worker need not do before it has answered its first event.
 *
 * Schemas read this when they are made. zod would compile each object schema at its first use; a worker reads few
 * documents of each kind in its life, so that costs more than it gives. It also keeps `new Function` out of the functions.
 * And it would look for values that contain themselves; JSON and items of DynamoDB never do.
 */
const memoizer: z.core.$ZodMemoizer = { attach() {}, guard() {}, alloc: (_schema, _input, empty) => empty };
z.config({ jitless: true, memoizer });

/*
 * undici parses HTTP in WebAssembly, which V8 optimises in the background after the first few answers (Node 20, measured
 * there: 100 ms and more of a processor that a small function has a third of). The budget is how much is run before that;
 * V8's own was 1.8 million, and 13 million by Node 24.
 */
setFlagsFromString('--wasm-tiering-budget=200000000');
