import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

export function describeMachine(): string {
  const [cpu] = cpus();
  const git = (...args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();
  const commit = git('rev-parse', '--short=12', 'HEAD');
  const isClean = git('status', '--porcelain', '--', 'shared', 'functions', 'local', 'infra') === '';
  const facts = [
    `commit ${commit}${isClean ? '' : ' with uncommitted changes'}`,
    `Node ${process.version}`,
    `${cpus().length} × ${cpu?.model.trim() || 'CPU'}`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
    new Date().toISOString().slice(0, 10),
  ];
  return facts.join(' · ');
}
