// What a caller may do: the one decision that every edge asks for, and the namespace that a request acts in.
import {
  type Access,
  type AccessKind,
  type Decision,
  isWriting,
  minRoleOf,
  type Role,
  reachesRole,
} from '../../contract/api/identity/access.ts'
import type { RecordKind } from '../../contract/api/resources/watch.ts'

const listedAs: Record<RecordKind, AccessKind> = {
  Approval: 'Task',
  Audit: 'Audit',
  Budget: 'Budget',
  Delivery: 'RepositoryMonitor',
  Finding: 'RepositoryScan',
  Memory: 'Memory',
  MemoryProposal: 'Memory',
  Message: 'Task',
  Monitor: 'RepositoryMonitor',
  Plan: 'Task',
  Scan: 'RepositoryScan',
  Session: 'Session',
  Usage: 'Usage',
  Workspace: 'Task',
}

/** The kind whose list right is asked for. */
export function accessKindOf(kind: RecordKind): AccessKind {
  return listedAs[kind]
}

/** What a token allows: the part of a caller that permission depends on. */
export type Rights = {
  role: Role
  /** Present: the cluster's RBAC decides instead of the role. */
  cluster?: object
  /** The namespace the caller acts in when none is named. */
  namespace?: string
  /** Present: the caller may act in this namespace only. */
  boundNamespace?: string
  /** Present: the caller may call this provider, and do nothing else. */
  agent?: { provider: { namespace: string; name: string } }
  /** True when a model acts with the rights of this caller. */
  isModel?: boolean
}

/** Kinds of the whole service, which have no namespace. */
const wholeService: ReadonlySet<AccessKind> = new Set<AccessKind>(['Budget', 'Metrics', 'Setting', 'Token'])

const defaultNamespace = 'default'
const allow: Decision = { allowed: true }

function refuse(reason: string): Decision {
  return { allowed: false, reason }
}

/** Whether the machine belongs to the caller. */
export function isOwner({ role }: Pick<Rights, 'role'>): boolean {
  return role === 'owner'
}

function requiredRoleFor(access: Access): Role {
  const { kind, namesSecret } = access
  // A task's Secret is named by whoever creates the task; an agent keeps using its Secret for other people's tasks.
  return kind === 'Agent' && isWriting(access) && namesSecret === true ? 'editor' : minRoleOf(access)
}

function authorizeRole(role: Role, access: Access): Decision {
  const minRole = requiredRoleFor(access)
  if (reachesRole(role, minRole)) return allow
  const { verb, kind, namesSecret } = access
  const what = namesSecret === true && minRole === 'editor' ? `${kind} that names a Secret` : kind
  return refuse(`the role ${role} may not ${verb} a ${what}: use a token with the role ${minRole}`)
}

/** What some callers may never do, whatever their role. */
function refuseKind(rights: Rights, { kind, verb }: Access): Decision | undefined {
  // RBAC cannot grant access to tokens: they exist only in the service.
  if (kind === 'Token' && !isOwner(rights)) return refuse('only the owner of the service may manage tokens')
  if (kind === 'Secret' && rights.isModel === true)
    return refuse('a model may not name a secret in what it creates; a person must name it')
  if (kind === 'Network' && rights.isModel === true && isWriting({ verb }))
    return refuse('a model may not widen a network; a person must do it')
  if (rights.boundNamespace === undefined || !wholeService.has(kind)) return undefined
  return refuse(`this token is bound to "${rights.boundNamespace}" and may not ${verb} a resource of the whole service`)
}

/** Called without a name while the name is not known yet, and again when it is. */
function authorizeAgent(provider: { namespace: string; name: string }, access: Access): Decision {
  const { verb, kind, namespace, name = provider.name } = access
  if (verb === 'use' && kind === 'Provider' && namespace === provider.namespace && name === provider.name) return allow
  return refuse(`this token is for calls of provider "${provider.name}" in namespace "${provider.namespace}" only`)
}

/** Whether the caller may do it, and if not, a reason to show the caller. No namespace means it is not known yet. */
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

/** The namespace of a request: the one it names, else the caller's default, else `default`. */
export function resolveNamespace(rights: Rights, named: string | undefined): string {
  return named ?? rights.boundNamespace ?? rights.namespace ?? defaultNamespace
}
