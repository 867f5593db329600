import type OAuth2Server from '@node-oauth/oauth2-server';
import type { OAuthClient, OAuthServer, TokenReply } from '../sync/ports/oauth.ts';

const GRANT = 'client_credentials';

/** The token endpoint. It uses `@node-oauth/oauth2-server`, which is loaded when the first client requests a token. */
export function createOAuthServer(): OAuthServer {
  return {
    async answer({ headers, form }, clientOf) {
      const { default: library } = await import('@node-oauth/oauth2-server');
      const model = modelOf(clientOf);
      const server = new library({ model });
      const request = new library.Request({ headers: { ...headers }, method: 'POST', query: {}, body: form });
      const response = new library.Response();
      try {
        await server.token(request, response);
        return replyOf(200, response);
      } catch (error) {
        if (!isRefusal(error)) throw causeOf(error);
        response.body = { error: error.name, error_description: error.message };
        return replyOf(error.code, response);
      }
    },
  };
}

/**
 * Returns the functions that the library calls: to find the client, and to get the text of a token. There are no users
 * and no scopes.
 */
function modelOf(
  clientOf: (id: string, secret: string) => Promise<OAuthClient | undefined>,
): OAuth2Server.ClientCredentialsModel {
  let client: OAuthClient | undefined;
  return {
    async getClient(id, secret) {
      client = await clientOf(id, secret ?? '');
      return client && { id, grants: [GRANT], accessTokenLifetime: client.accessSeconds };
    },
    getUserFromClient: async ({ id }) => ({ id }),
    generateAccessToken: async () => client?.issue() ?? '',
    // `issue` has already stored the token.
    saveToken: async ({ accessToken, accessTokenExpiresAt }, of, user) => ({
      accessToken,
      ...(accessTokenExpiresAt && { accessTokenExpiresAt }),
      client: of,
      user,
    }),
    getAccessToken: async () => undefined,
  };
}

const replyOf = (status: number, { headers = {}, body }: OAuth2Server.Response): TokenReply => ({
  status,
  headers,
  body,
});

/** Whether the error is a fault of the client. The library gives every error of the model a code of 500 or more. */
const isRefusal = (error: unknown): error is OAuth2Server.OAuthError =>
  error instanceof Error && 'code' in error && Number(error.code) >= 400 && Number(error.code) < 500;

const causeOf = (error: unknown): unknown =>
  error instanceof Error && 'inner' in error ? error.inner : error;
