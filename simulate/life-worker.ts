import { drawLife } from './draw.ts';
import { lifeReport } from './judgement.ts';
import { live } from './live.ts';
import type { Answer, Errand } from './lives.ts';
import { plantNamed } from './planted.ts';

/** A process that lives what it is sent (lives.ts), one life after the other. */
process.on('message', ({ seed, draw, planted }: Errand) => {
  const answer = (message: Answer) => process.send?.(message);
  live(drawLife(seed, draw), { plant: plantNamed(planted) }).then(
    (outcome) => answer({ report: lifeReport(outcome) }),
    (error: unknown) =>
      answer({ seed, broke: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
