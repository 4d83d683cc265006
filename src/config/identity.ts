// Validates the settings for external tokens together: what is enabled, and start-up errors for incomplete groups.
import { type Problem, SvcError } from '../errors.ts'
import type { SettingSource } from './load.ts'
import { environmentNameOf, flagOf, type SettingName, type Settings } from './settings.ts'

export type OidcConfig = {
  issuer: string
  audiences: readonly string[]
  jwksUrl?: string
  allowedSubjects: readonly string[]
  namespace: string
}

/** `Header` or `Header:Scheme`, the name in lower case. */
export type ContextTokenHeader = { header: string; scheme?: string }

export type ContextTokenConfig = {
  issuer: string
  audiences: readonly string[]
  jwksUrl?: string
  headers: readonly ContextTokenHeader[]
  namespace: string
  mode: 'off' | 'audit' | 'enforce'
}

export type IdentityConfig = { oidc?: OidcConfig; context?: ContextTokenConfig }

type LoadedSettings = Settings & { readonly sources: Readonly<Record<SettingName, SettingSource>> }

function listNames(config: LoadedSettings, prefix: string): SettingName[] {
  return (Object.keys(config.sources) as SettingName[]).filter((name) => name.startsWith(prefix))
}

function nameSetting(name: SettingName): string {
  return `--${flagOf(name)} (${environmentNameOf(name)})`
}

function isSet(config: LoadedSettings, name: SettingName): boolean {
  const value = config[name]
  return config.sources[name] !== 'default' && !(Array.isArray(value) && value.length === 0)
}

/** Settings that are required as soon as any of the group is set. */
function findMissing(config: LoadedSettings, group: readonly SettingName[], needed: readonly SettingName[]): Problem[] {
  const present = group.filter((name) => isSet(config, name))
  if (present[0] === undefined) return []
  const because = `is needed with --${flagOf(present[0])}`
  return needed.filter((name) => !isSet(config, name)).map((name) => ({ path: nameSetting(name), message: because }))
}

const headerShape = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)(?::([A-Za-z0-9!#$%&'*+.^_`|~-]+))?$/
/** These headers have a fixed meaning for every server; a token in one of them would be read twice or not at all. */
const takenHeaders = new Set(['x-api-key', 'cookie', 'host', 'content-type', 'content-length', 'connection', 'origin'])

function readHeader(text: string): ContextTokenHeader | undefined {
  const [, name, scheme] = headerShape.exec(text) ?? []
  const header = name?.toLowerCase()
  if (header === undefined || takenHeaders.has(header)) return undefined
  if (header === 'authorization' && scheme === undefined) return undefined
  return { header, scheme }
}

function findHeaderProblems(config: LoadedSettings): Problem[] {
  const message = 'must be Header or Header:Scheme; Authorization needs a scheme'
  const path = nameSetting('contextTokenHeaders')
  const bad = config.contextTokenHeaders.filter((text) => readHeader(text) === undefined)
  if (config.contextTokenHeaders.length === 0) return [{ path, message: 'must name a header' }]
  return bad.map((text) => ({ path, message: `"${text}" ${message}` }))
}

function findProblems(config: LoadedSettings): Problem[] {
  return [
    ...findMissing(config, listNames(config, 'oidc'), ['oidcIssuer', 'oidcAudience']),
    ...findMissing(config, listNames(config, 'contextToken'), [
      'contextTokenProfile',
      'contextTokenIssuer',
      'contextTokenAudience',
    ]),
    ...findHeaderProblems(config),
  ]
}

/** When only some namespaces are served, callers have no default in another one unless the settings say so. */
function homeOf(config: LoadedSettings, name: 'oidcNamespace' | 'contextTokenNamespace'): string {
  return config.sources[name] === 'default' ? (config.watchNamespace[0] ?? config[name]) : config[name]
}

function readOidc(config: LoadedSettings): OidcConfig | undefined {
  const { oidcIssuer, oidcAudience, oidcJwksUrl, oidcAllowedSubjects } = config
  if (oidcIssuer === undefined) return undefined
  return {
    issuer: oidcIssuer,
    audiences: oidcAudience,
    jwksUrl: oidcJwksUrl,
    allowedSubjects: oidcAllowedSubjects,
    namespace: homeOf(config, 'oidcNamespace'),
  }
}

function readContext(config: LoadedSettings): ContextTokenConfig | undefined {
  const { contextTokenIssuer, contextTokenAudience, contextTokenJwksUrl, contextTokenHeaders } = config
  if (config.contextTokenProfile === undefined || contextTokenIssuer === undefined) return undefined
  return {
    issuer: contextTokenIssuer,
    audiences: contextTokenAudience,
    jwksUrl: contextTokenJwksUrl,
    headers: contextTokenHeaders.map(readHeader).filter((header) => header !== undefined),
    namespace: homeOf(config, 'contextTokenNamespace'),
    mode: config.contextTokenAuthzMode,
  }
}

/** InvalidRequest naming every setting that is missing (OIDC-014). */
export function readIdentityConfig(config: LoadedSettings): IdentityConfig {
  const problems = findProblems(config)
  if (problems.length > 0) {
    const message = problems.map(({ path, message }) => `${path} ${message}`).join(', ')
    throw new SvcError('InvalidRequest', `bad configuration: ${message}`, { details: problems })
  }
  const [oidc, context] = [readOidc(config), readContext(config)]
  return { oidc, context }
}
