import { GetWebIdentityTokenCommand, type STSClient } from '@aws-sdk/client-sts';
import { WEB_IDENTITY_SECONDS } from '../../contract/topology.ts';
import { DirectoryError } from '../ports.ts';

/**
 * Returns a function that gets a token from AWS STS. The token proves the role of this process. It is signed with
 * RS256, because some services that verify it do not support ES384. Only regional STS endpoints have this operation.
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
    throw new DirectoryError('invalid', 'web identity: expected a token of AWS STS');
  };

/** True if AWS refuses the request. False for errors that may be temporary, such as a timeout. */
const isRefusal = (reason: string): boolean =>
  /^(?:AccessDenied|OutboundWebIdentityFederationDisabled|SessionDurationEscalation|ValidationError|InvalidAction)/.test(
    reason,
  );
