// What a caller of an issuer may do: inside one namespace by a role, or wherever the cluster's RBAC allows it.
import { type Role, roles } from '../../contract/api/identity/access.ts'

/** `*` means everybody. */
export type GroupRole = { group: string; role: Role }

/** Prefix of the issuer's names when the cluster is asked, so that they match nobody else there. */
export type ClusterPrefixes = { username: string; groups: string }

export type IssuerRights = {
  /** The namespace its callers act in when they name none; with a role they act in no other. */
  namespace: string
  /** Absent: every caller is an editor. */
  groupRoles?: readonly GroupRole[]
  /** Present: the cluster's RBAC decides. */
  cluster?: ClusterPrefixes
}

export type Vouched = {
  subject: string
  groups: readonly string[]
  /** The namespace that the issuer signed: the caller acts in no other, whatever its rights. */
  namespace?: string
}

export type Standing = {
  role: Role
  namespace: string
  boundNamespace?: string
  cluster?: { user: string; groups: string[] }
}

/** Names of the cluster's own users and groups, which no issuer may assign. */
const reserved = 'system:'
/** The API server adds this group to everybody whose token it accepts. */
const everybody = 'system:authenticated'

function highestRole(groups: readonly string[], groupRoles: readonly GroupRole[]): Role | undefined {
  const granted = groupRoles.filter(({ group }) => group === '*' || groups.includes(group)).map(({ role }) => role)
  return roles.findLast((role) => granted.includes(role))
}

function nameOnCluster({ subject, groups }: Vouched, prefixes: ClusterPrefixes): Standing['cluster'] {
  const user = `${prefixes.username}${subject}`
  if (user.startsWith(reserved)) return undefined
  const named = groups.map((group) => `${prefixes.groups}${group}`).filter((group) => !group.startsWith(reserved))
  return { user, groups: [...named, everybody] }
}

/** Undefined for a caller without a role here, and for a name that only the cluster assigns. */
export function findStanding(who: Vouched, rights: IssuerRights): Standing | undefined {
  const namespace = who.namespace ?? rights.namespace
  const bound = { namespace, boundNamespace: namespace }
  if (rights.cluster !== undefined) {
    const cluster = nameOnCluster(who, rights.cluster)
    if (cluster === undefined) return undefined
    return { role: 'editor', cluster, ...(who.namespace === undefined ? { namespace } : bound) }
  }
  const role = rights.groupRoles === undefined ? 'editor' : highestRole(who.groups, rights.groupRoles)
  if (role === undefined) return undefined
  return role === 'owner' && who.namespace === undefined ? { role, namespace } : { role, ...bound }
}
