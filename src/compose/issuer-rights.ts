// What the settings allow the callers of an issuer to do: by role in one namespace, or by the cluster's RBAC.
import type { Config } from '../config/load.ts'
import { environmentNameOf, flagOf, type SettingName } from '../config/settings.ts'
import { type Role, roles } from '../contract/api/identity/access.ts'
import { SvcError } from '../errors.ts'
import type { GroupRole, IssuerRights } from '../rules/identity/issuer-rights.ts'

function refuseSetting(name: SettingName, message: string): never {
  const path = `--${flagOf(name)} (${environmentNameOf(name)})`
  throw new SvcError('InvalidRequest', `bad configuration: ${path} ${message}`, { details: [{ path, message }] })
}

/** As for the API server: by default the issuer and `#`; `-` is none. */
function prefixOf(given: string | undefined, otherwise: string): string {
  if (given === undefined) return otherwise
  return given === '-' ? '' : given
}

function requireCluster(config: Config, name: SettingName): void {
  if (config.mode !== 'kubernetes') refuseSetting(name, 'rbac needs --mode kubernetes: there is no cluster to ask here')
}

/** `group=role`; names of groups may have a `=` of their own. */
function readGroupRole(text: string): GroupRole {
  const end = text.lastIndexOf('=')
  const [group, role] = [text.slice(0, end), text.slice(end + 1)]
  if (end < 1 || !roles.includes(role as Role))
    refuseSetting('oidcRoleMapping', `"${text}" must be group=role, with one of the roles ${roles.join(', ')}`)
  return { group, role: role as Role }
}

function readGroupRoles(config: Config): readonly GroupRole[] | undefined {
  const found = config.oidcRoleMapping.map(readGroupRole)
  if (found.length === 0) return undefined
  if (config.oidcAuthorization === 'rbac')
    refuseSetting('oidcRoleMapping', 'has no meaning with --oidc-authorization=rbac: bind roles of the cluster')
  if (config.mode === 'kubernetes' && found.some(({ role }) => role === 'owner'))
    refuseSetting('oidcRoleMapping', 'can make nobody the owner of a cluster: choose editor, runner or viewer')
  return found
}

/** InvalidRequest for settings that contradict each other. */
export function oidcRightsOf(config: Config): Omit<IssuerRights, 'namespace'> {
  const groupRoles = readGroupRoles(config)
  if (config.oidcAuthorization === 'namespace') return groupRoles === undefined ? {} : { groupRoles }
  requireCluster(config, 'oidcAuthorization')
  const username = prefixOf(config.oidcUsernamePrefix, `${config.oidcIssuer ?? ''}#`)
  return { cluster: { username, groups: prefixOf(config.oidcGroupsPrefix, username) } }
}

/** InvalidRequest for settings that contradict each other. */
export function contextTokenRightsOf(config: Config): Omit<IssuerRights, 'namespace'> {
  if (config.contextTokenAuthorization === 'namespace') return {}
  requireCluster(config, 'contextTokenAuthorization')
  const username = prefixOf(config.contextTokenUsernamePrefix, `${config.contextTokenIssuer ?? ''}#`)
  return { cluster: { username, groups: username } }
}
