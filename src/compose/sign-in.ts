// What the settings say about the dashboard, and about signing in there.
import { readIdentityConfig } from '../config/identity.ts'
import type { Config } from '../config/load.ts'
import type { OidcSignIn } from '../contract/api/identity/auth.ts'
import type { HttpSettings } from '../http/deps.ts'
import { dashboardFolder } from '../launch/program-files.ts'

function listIssuers(config: Config): OidcSignIn[] {
  const { oidc } = readIdentityConfig(config)
  const { oidcSignInClientId: clientId, oidcSignInScopes: scopes, oidcSignInTokenKind: tokenKind } = config
  if (oidc === undefined || clientId === undefined) return []
  const { issuer } = oidc
  return [{ name: new URL(issuer).host, issuer, clientId, scopes, tokenKind }]
}

/** The page may call the issuers, and what else they name, but nobody else. */
export function readSignIn(config: Config): Pick<HttpSettings, 'dashboard' | 'signIn'> {
  const signIn = listIssuers(config)
  const called = signIn.length === 0 ? [] : [...signIn.map(({ issuer }) => issuer), ...config.oidcSignInOrigins]
  const connectOrigins = [...new Set(called.map((address) => new URL(address).origin))]
  return { signIn, dashboard: config.dashboard ? { folder: dashboardFolder, connectOrigins } : undefined }
}
