// What a caller may do: the one decision that every edge asks for, and which namespace a request acts in.
import { type Access, type AccessKind, type AccessVerb, type Decision, type Role, roles } from '../contract/access.ts'

/** What a token allows; the part of a caller that decides. */
export type Rights = {
  role: Role
  /** Present: the cluster's RBAC decides in the place of the role. */
  cluster?: object
  /** The namespace the caller acts in when none is named. */
  namespace?: string
  /** Present: the caller may act in this namespace only. */
  boundNamespace?: string
  /** Present: the caller may have this provider act, and nothing else. */
  agent?: { provider: { namespace: string; name: string } }
  /** A model acts with the rights of this caller. */
  isModel?: boolean
}

type Deed = 'read' | 'write' | 'act'

const deeds: Record<AccessVerb, Deed> = {
  get: 'read',
  list: 'read',
  create: 'write',
  update: 'write',
  delete: 'write',
  use: 'act',
  operate: 'act',
}

/** The least role that may read objects of a kind, change them, and have them act. Total, so that no kind can be forgotten. */
const leastRoles: Record<AccessKind, Record<Deed, Role>> = {
  Task: { read: 'viewer', write: 'runner', act: 'runner' },
  Agent: { read: 'viewer', write: 'runner', act: 'runner' },
  Skill: { read: 'viewer', write: 'runner', act: 'runner' },
  Session: { read: 'viewer', write: 'runner', act: 'runner' },
  Memory: { read: 'viewer', write: 'runner', act: 'runner' },
  Provider: { read: 'viewer', write: 'editor', act: 'runner' },
  Tool: { read: 'viewer', write: 'editor', act: 'runner' },
  RepositoryScan: { read: 'viewer', write: 'editor', act: 'runner' },
  RepositoryMonitor: { read: 'viewer', write: 'editor', act: 'runner' },
  ConfigMap: { read: 'viewer', write: 'editor', act: 'runner' },
  Secret: { read: 'editor', write: 'editor', act: 'editor' },
  Usage: { read: 'viewer', write: 'owner', act: 'owner' },
  Budget: { read: 'owner', write: 'owner', act: 'owner' },
  Metrics: { read: 'viewer', write: 'owner', act: 'owner' },
  Token: { read: 'owner', write: 'owner', act: 'owner' },
  Audit: { read: 'owner', write: 'owner', act: 'owner' },
}

/** They are of the whole service, in no namespace. */
const wholeService: ReadonlySet<AccessKind> = new Set<AccessKind>(['Budget', 'Metrics', 'Token'])

const defaultNamespace = 'default'
const allow: Decision = { allowed: true }

function refuse(reason: string): Decision {
  return { allowed: false, reason }
}

/** Whether the machine is the caller's own. */
export function isOwner({ role }: Pick<Rights, 'role'>): boolean {
  return role === 'owner'
}

function leastRoleFor({ verb, kind, namesSecret }: Access): Role {
  const deed = deeds[verb]
  // Of a task the Secret is named by whoever made it; an agent goes on with it for others.
  return kind === 'Agent' && deed === 'write' && namesSecret === true ? 'editor' : leastRoles[kind][deed]
}

function authorizeRole(role: Role, access: Access): Decision {
  const least = leastRoleFor(access)
  if (roles.indexOf(role) >= roles.indexOf(least)) return allow
  const { verb, kind, namesSecret } = access
  const what = namesSecret === true && least === 'editor' ? `${kind} that names a Secret` : kind
  return refuse(`the role ${role} may not ${verb} a ${what}: use a token with the role ${least}`)
}

/** What some callers never reach, whatever they would do with it. */
function refuseKind(rights: Rights, { kind, verb }: Access): Decision | undefined {
  // RBAC gives no right to tokens: they are the service's own.
  if (kind === 'Token' && !isOwner(rights)) return refuse('only the owner of the service may manage tokens')
  if (kind === 'Secret' && rights.isModel === true)
    return refuse('what a model makes may not name a secret; a person must name it')
  if (rights.boundNamespace === undefined || !wholeService.has(kind)) return undefined
  return refuse(`this token is bound to "${rights.boundNamespace}" and may not ${verb} what is the whole service's`)
}

/** Without a name it is asked before the name is known; then it is asked again. */
function authorizeAgent(provider: { namespace: string; name: string }, access: Access): Decision {
  const { verb, kind, namespace, name = provider.name } = access
  if (verb === 'use' && kind === 'Provider' && namespace === provider.namespace && name === provider.name) return allow
  return refuse(`this token is for calls of provider "${provider.name}" in namespace "${provider.namespace}" only`)
}

/** Whether the caller may do it, and if not, why in words for the caller. Without a namespace: it is not known yet. */
export function authorize(rights: Rights, access: Access): Decision {
  if (rights.agent !== undefined) return authorizeAgent(rights.agent.provider, access)
  const guarded = refuseKind(rights, access)
  if (guarded !== undefined) return guarded
  const ofRole = rights.cluster === undefined ? authorizeRole(rights.role, access) : allow
  if (!ofRole.allowed) return ofRole
  const { boundNamespace } = rights
  if (boundNamespace === undefined || access.namespace === undefined || access.namespace === boundNamespace)
    return allow
  return refuse(`namespace not allowed: this token is bound to "${boundNamespace}", not "${access.namespace}"`)
}

/** The namespace of a request: the one it names, else the caller's own, else `default`. */
export function resolveNamespace(rights: Rights, named: string | undefined): string {
  return named ?? rights.boundNamespace ?? rights.namespace ?? defaultNamespace
}
