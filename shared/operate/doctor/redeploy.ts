/** A deployment with an unchanged template changes nothing, so manual changes to resources stay. */
export const redeploy = 'deploy the stack again, with --revert-drift (see docs/runbook.md)';
