import { GetWebIdentityTokenCommand, type STSClient } from '@aws-sdk/client-sts';
import { WEB_IDENTITY_SECONDS } from '../contract/topology.ts';
import { DirectoryError } from '../sync/ports/directory.ts';

/**
 * Returns tokens of AWS STS that prove the role of this process. They are signed with RS256, because some services that
 * verify them do not know ES384. The call needs the regional endpoint of STS, because the global endpoint does not have
 * this operation.
 */
export const createWebIdentity =
  (sts: Pick<STSClient, 'send'>) =>
  async (audience: string): Promise<string> => {
    const command = new GetWebIdentityTokenCommand({
      Audience: [audience],
      DurationSeconds: WEB_IDENTITY_SECONDS,
      SigningAlgorithm: 'RS256',
    });
    const { WebIdentityToken: token } = await sts.send(command).catch((error: unknown) => {
      const reason = error instanceof Error ? error.name : 'unknown';
      const message = `web identity: AWS STS answered ${reason}`;
      throw new DirectoryError(isRefusal(reason) ? 'denied' : 'unavailable', message, { reason });
    });
    if (token !== undefined) return token;
    throw new DirectoryError('odd', 'web identity: expected a token of AWS STS');
  };

/** Whether AWS refuses the request. Other errors, such as a timeout, may be temporary. */
const isRefusal = (reason: string): boolean =>
  /^(?:AccessDenied|OutboundWebIdentityFederationDisabled|SessionDurationEscalation|ValidationError|InvalidAction)/.test(
    reason,
  );
