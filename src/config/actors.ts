// Validates the settings of actors together: which credentials and which trust they need.
import { type Problem, SvcError } from '../errors.ts'
import { dropUndefined } from '../lib/json.ts'
import { environmentNameOf, flagOf, type SettingName, type Settings } from './settings.ts'

export type SecretEntry = { name: string; entry: string }

export type ActorConfig = {
  endpoint: string
  routerUrl: string
  dnsSuffix: string
  /** Whom the certificate of the control service must come from, and the file with the token that it is shown. */
  trust: { caFile: string; tokenFile?: string } | 'insecure'
  bootstrapToken: SecretEntry
  templateNamespace?: string | undefined
  /** Absent: sessions get no identity. */
  identity?: { token: SecretEntry; audience: string; appId: string; userId: string; required: boolean }
}

function name(setting: SettingName): string {
  return `--${flagOf(setting)} (${environmentNameOf(setting)})`
}

function findTrustProblems(settings: Settings): Problem[] {
  const { actorApiCaFile, actorApiTokenFile, actorApiInsecureSkipVerify: isOpen } = settings
  const path = name('actorApiCaFile')
  if (actorApiCaFile === undefined && !isOpen) {
    return [{ path, message: `is needed with --actor-enabled, or --${flagOf('actorApiInsecureSkipVerify')} for tests` }]
  }
  if (!isOpen) return []
  if (actorApiTokenFile !== undefined) {
    const message = `is needed with --${flagOf('actorApiTokenFile')}: whose certificate is not checked is shown no token`
    return [{ path, message }]
  }
  if (actorApiCaFile === undefined) return []
  return [{ path, message: `has no meaning with --${flagOf('actorApiInsecureSkipVerify')}: choose one of the two` }]
}

const identityParts = [
  'actorSessionIdentityAudience',
  'actorSessionIdentityAppId',
  'actorSessionIdentityUserId',
] as const satisfies readonly SettingName[]

function findIdentityProblems(settings: Settings): Problem[] {
  const tokenName = 'actorSessionIdentityTokenSecretName'
  const problems: Problem[] = []
  if (settings.actorSessionIdentityMintCert) {
    problems.push({ path: name('actorSessionIdentityMintCert'), message: 'is not supported: identities are tokens' })
  }
  if (settings[tokenName] === undefined) {
    const isNeeded = settings.actorSessionIdentityRequired
    return isNeeded
      ? [...problems, { path: name(tokenName), message: 'is needed where identities are required' }]
      : problems
  }
  const missing = identityParts.filter((part) => settings[part] === undefined)
  return [
    ...problems,
    ...missing.map((part) => ({ path: name(part), message: `is needed with --${flagOf(tokenName)}` })),
  ]
}

function findProblems(settings: Settings): Problem[] {
  const problems = [...findTrustProblems(settings), ...findIdentityProblems(settings)]
  if (settings.actorBootstrapTokenSecretName === undefined) {
    problems.push({ path: name('actorBootstrapTokenSecretName'), message: 'is needed with --actor-enabled' })
  }
  return problems
}

function readIdentity(settings: Settings): Pick<ActorConfig, 'identity'> {
  const { actorSessionIdentityTokenSecretName: secret, actorSessionIdentityTokenSecretKey: entry } = settings
  const { actorSessionIdentityAudience: audience = '', actorSessionIdentityAppId: appId = '' } = settings
  const { actorSessionIdentityUserId: userId = '', actorSessionIdentityRequired: required } = settings
  return secret === undefined ? {} : { identity: { token: { name: secret, entry }, audience, appId, userId, required } }
}

function readTrust({ actorApiCaFile: caFile, actorApiTokenFile: tokenFile }: Settings): ActorConfig['trust'] {
  return caFile === undefined ? 'insecure' : dropUndefined({ caFile, tokenFile })
}

/**
 * Where actors are not enabled any more, but the settings still say whom to ask: what is left of them can be ended.
 */
export function readRetiredActors(settings: Settings): Pick<ActorConfig, 'endpoint' | 'trust'> | undefined {
  const { actorEnabled, actorApiEndpoint: endpoint } = settings
  if (actorEnabled || findTrustProblems(settings).length > 0) return undefined
  return { endpoint, trust: readTrust(settings) }
}

/** Undefined unless actors are enabled. InvalidRequest that names every setting that is missing or contradicts another. */
export function readActorConfig(settings: Settings): ActorConfig | undefined {
  if (!settings.actorEnabled) return undefined
  const problems = findProblems(settings)
  if (problems.length > 0) {
    const message = problems.map(({ path, message: what }) => `${path} ${what}`).join('; ')
    throw new SvcError('InvalidRequest', message, { details: problems })
  }
  const { actorBootstrapTokenSecretName: bootstrap = '' } = settings
  return {
    endpoint: settings.actorApiEndpoint,
    routerUrl: settings.actorRouterUrl,
    dnsSuffix: settings.actorActorDnsSuffix,
    trust: readTrust(settings),
    bootstrapToken: { name: bootstrap, entry: settings.actorBootstrapTokenSecretKey },
    templateNamespace: settings.actorDefaultTemplateNamespace,
    ...readIdentity(settings),
  }
}
