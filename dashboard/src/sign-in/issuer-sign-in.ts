// Signing in at an issuer of OpenID Connect: authorization code with PKCE (RFC 6749, 7636), as a public client. Loaded where an issuer
// is named only.
import * as oidc from 'openid-client'
import type { OidcSignIn } from '../../../src/contract/api/identity/auth.ts'
import { messageOf, SvcError } from '../../../src/errors.ts'
import { sessions } from '../session/session.ts'

const callbackPath = '/signin/callback'
const key = 'svc.sign-in'
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** What is kept in this tab while the person is at the issuer. */
type Begun = { method: OidcSignIn; verifier: string; state: string; nonce: string; path: string }

async function discover({ issuer, clientId }: OidcSignIn): Promise<oidc.Configuration> {
  const url = new URL(issuer)
  // One on this machine may use plain HTTP.
  const execute = url.protocol === 'http:' && loopback.has(url.hostname) ? [oidc.allowInsecureRequests] : []
  return oidc.discovery(url, clientId, undefined, oidc.None(), { execute })
}

function keepBegun(begun: Begun): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(begun))
  } catch {
    throw new SvcError(
      'Unavailable',
      'This browser keeps nothing for this page, which this sign-in needs. Allow it to, or use a token.',
    )
  }
}

/** Leaves for the issuer; the page is gone when it resolves. */
export async function beginAtIssuer(method: OidcSignIn, path: string): Promise<void> {
  const configuration = await discover(method)
  const verifier = oidc.randomPKCECodeVerifier()
  const begun: Begun = { method, verifier, state: oidc.randomState(), nonce: oidc.randomNonce(), path }
  keepBegun(begun)
  const address = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: window.location.origin + callbackPath,
    scope: method.scopes.join(' '),
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: begun.state,
    nonce: begun.nonce,
  })
  window.location.assign(address)
}

function takeBegun(): Begun {
  const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as Begun | null
  sessionStorage.removeItem(key)
  if (kept === null) throw new SvcError('Unauthenticated', 'This sign-in was not begun in this tab. Begin again.')
  return kept
}

function readToken({ method }: Begun, tokens: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers): void {
  const token = method.tokenKind === 'id' ? tokens.id_token : tokens.access_token
  if (token === undefined) throw new SvcError('Unauthenticated', `${method.name} gave no token of the kind it should.`)
  const seconds = method.tokenKind === 'id' ? (tokens.claims()?.exp ?? 0) - Date.now() / 1000 : tokens.expiresIn()
  const expires = seconds === undefined ? {} : { expiresAt: new Date(Date.now() + seconds * 1000).toISOString() }
  sessions.begin({ token, source: 'issuer', ...expires })
}

/** At the address that the issuer sends people back to: signs in, and goes where one wanted to go. */
export async function endAtIssuer(): Promise<void> {
  const address = new URL(window.location.href)
  window.history.replaceState(null, '', '/')
  const begun = takeBegun()
  try {
    const configuration = await discover(begun.method)
    const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce }
    readToken(begun, await oidc.authorizationCodeGrant(configuration, address, checks))
    window.history.replaceState(null, '', begun.path)
  } catch (error) {
    if (error instanceof SvcError) throw error
    throw new SvcError('Unauthenticated', `Signing in at ${begun.method.name} failed: ${messageOf(error)}`)
  }
}
