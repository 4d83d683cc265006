// Talks to the issuer: the two ways of a login, and a fresh token for an old one (RFC 6749, 7636, 8252, 8628).
import * as oidc from 'openid-client'
import { messageOf, SvcError } from '../../errors.ts'
import { listenForCode } from './redirect.ts'
import type { Login } from './stored-logins.ts'

export type LoginWish = {
  issuer: string
  clientId: string
  kind: Login['kind']
  scope: string
  /** Required by issuers that serve several services (Auth0, Entra). */
  audience?: string
}

/** What the person is asked to do. */
export type Prompt = { address: string; code?: string }

export type ShowPrompt = (prompt: Prompt) => void

const timeoutSeconds = 15
/** After this time the login is abandoned. */
const loginTimeoutMs = 900_000
const loopback = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** An issuer on this machine may use plain HTTP; any other must not. */
function readIssuer(issuer: string): { url: URL; execute: ((config: oidc.Configuration) => void)[] } {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  const isLocal = url?.protocol === 'http:' && loopback.has(url.hostname)
  if (url !== undefined && (isLocal || url.protocol === 'https:')) {
    return { url, execute: isLocal ? [oidc.allowInsecureRequests] : [] }
  }
  throw new SvcError('InvalidRequest', `--issuer ${issuer}: must be an address that begins with https://`)
}

async function discover(issuer: string, clientId: string): Promise<oidc.Configuration> {
  const { url, execute } = readIssuer(issuer)
  return oidc.discovery(url, clientId, undefined, oidc.None(), { execute, timeout: timeoutSeconds })
}

/** The issuer's own error message, if there is one. */
function explain(error: unknown, issuer: string): SvcError {
  if (error instanceof SvcError) return error
  const reason = error instanceof oidc.ResponseBodyError ? (error.error_description ?? error.error) : messageOf(error)
  return new SvcError('Unauthenticated', `the login at ${issuer} failed: ${reason}`, { cause: error })
}

type Tokens = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers

function toLogin(
  { issuer, clientId, kind }: Pick<Login, 'issuer' | 'clientId' | 'kind'>,
  tokens: Tokens,
  now: Date,
): Login {
  const token = kind === 'id' ? tokens.id_token : tokens.access_token
  if (token === undefined) {
    throw new SvcError('Unauthenticated', `${issuer} gave no ID token: add openid to --scope`)
  }
  const seconds = kind === 'id' ? (tokens.claims()?.exp ?? 0) - now.getTime() / 1000 : tokens.expiresIn()
  const expiresAt = seconds === undefined ? undefined : new Date(now.getTime() + seconds * 1000).toISOString()
  return {
    issuer,
    clientId,
    kind,
    token,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(tokens.refresh_token === undefined ? {} : { refreshToken: tokens.refresh_token }),
  }
}

function parametersOf({ scope, audience }: LoginWish): Record<string, string> {
  return { scope, ...(audience === undefined ? {} : { audience }) }
}

async function runDeviceFlow(config: oidc.Configuration, wish: LoginWish, showPrompt: ShowPrompt, signal: AbortSignal) {
  const started = await oidc.initiateDeviceAuthorization(config, parametersOf(wish))
  showPrompt({ address: started.verification_uri_complete ?? started.verification_uri, code: started.user_code })
  return oidc.pollDeviceAuthorizationGrant(config, started, undefined, { signal })
}

const loginPages = {
  done: 'You are logged in. You can close this page.',
  failed: 'The login failed. See the terminal.',
}

async function runCodeFlow(config: oidc.Configuration, wish: LoginWish, showPrompt: ShowPrompt, signal: AbortSignal) {
  const [verifier, state, nonce] = [oidc.randomPKCECodeVerifier(), oidc.randomState(), oidc.randomNonce()]
  const redirect = await listenForCode(state, signal, loginPages)
  try {
    const address = oidc.buildAuthorizationUrl(config, {
      ...parametersOf(wish),
      redirect_uri: redirect.url,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    showPrompt({ address: address.href })
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
    return await oidc.authorizationCodeGrant(config, await redirect.answer, checks)
  } finally {
    redirect.close()
  }
}

export type LoginOptions = { flow: 'device' | 'code'; showPrompt: ShowPrompt; signal: AbortSignal; now: () => Date }

/** Logs a person in. Unauthenticated with the issuer's reason. */
export async function logIn(wish: LoginWish, { flow, showPrompt, signal, now }: LoginOptions): Promise<Login> {
  try {
    const config = await discover(wish.issuer, wish.clientId)
    const run = flow === 'device' ? runDeviceFlow : runCodeFlow
    const withTimeout = AbortSignal.any([signal, AbortSignal.timeout(loginTimeoutMs)])
    return toLogin(wish, await run(config, wish, showPrompt, withTimeout), now())
  } catch (error) {
    throw explain(error, wish.issuer)
  }
}

/** A new token from the refresh token. Unauthenticated when the issuer gives none. */
export async function refreshLogin(login: Login & { refreshToken: string }, now: () => Date): Promise<Login> {
  try {
    const config = await discover(login.issuer, login.clientId)
    const tokens = await oidc.refreshTokenGrant(config, login.refreshToken)
    // An issuer that does not rotate refresh tokens sends none (RFC 6749 section 6).
    return { refreshToken: login.refreshToken, ...toLogin(login, tokens, now()) }
  } catch (error) {
    throw explain(error, login.issuer)
  }
}
