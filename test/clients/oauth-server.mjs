// An authorization server (oidc-provider) with one client, whose id and secret are its arguments, for one resource:
// tokens are JWTs that name the resource they are for (RFC 8707). Prints its address.
import { createServer } from 'node:http'
import Provider from 'oidc-provider'

const [, , clientId, clientSecret] = process.argv
const server = createServer((request, response) => handle(request, response))
let handle
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    scopes: ['docs:read'],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          audience: resource,
          scope: 'docs:read docs:write',
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
        }),
      },
    },
  })
  handle = provider.callback()
  process.stdout.write(`${issuer}\n`)
})
