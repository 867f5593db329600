/** `--revert-drift` is needed, because a deployment with an unchanged template does not revert manual changes. */
export const redeploy = 'deploy the stack again, with --revert-drift (see docs/runbook.md)';
