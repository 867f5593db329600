import { GetWebIdentityTokenCommand, type STSClient } from '@aws-sdk/client-sts';
import { WEB_IDENTITY_SECONDS } from '../contract/topology.ts';
import { DirectoryError } from '../sync/ports/directory.ts';

/**
 * Tokens of AWS STS that state the role that runs this. RS256, because not every service that verifies them knows ES384.
 * The regional endpoint of STS is used: the global one has no such call.
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

/** The others, such as a time-out, may end by themselves. */
const isRefusal = (reason: string): boolean =>
  /^(?:AccessDenied|OutboundWebIdentityFederationDisabled|SessionDurationEscalation|ValidationError|InvalidAction)/.test(
    reason,
  );
