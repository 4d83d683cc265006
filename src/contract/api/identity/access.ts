// The words in which edges, rules and authorizers describe what a caller wants to do.
import type { Kind } from '../../kinds/index.ts'

/** `use`: call a tool or a provider, or have a secret's credential sent; `operate`: start a run of a monitor. */
export type AccessVerb = 'get' | 'list' | 'create' | 'update' | 'delete' | 'use' | 'operate'

/** Kinds of resources and of everything else that is protected. */
export type AccessKind =
  | Kind
  | 'Secret'
  | 'ConfigMap'
  | 'Session'
  | 'Memory'
  | 'Usage'
  | 'Budget'
  | 'Setting'
  | 'Network'
  | 'Token'
  | 'Audit'
  | 'Metrics'

/** As people write it: `repository scan`. */
export const wordsOfKind = (kind: AccessKind): string => kind.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()

/** Namespaces of the cluster itself, in which no one may write through the service. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease']

/** What a task would do, for the constraints of a context token. */
export type TaskFacts = {
  type: string
  /** Absent: the task has no agent. */
  agent?: { namespace: string; name: string }
  /** Every repository that is cloned, with the branch or commit to check out. */
  workspaces: { repo?: string; branch?: string; ref?: string }[]
  /** The model to be used, then its fallbacks. A provider or model that is not known yet is absent. */
  models: { namespace?: string; provider?: string; model?: string }[]
  /** The tools of the task; `any`: its runtime decides. */
  tools: { namespace: string; name: string }[] | 'any'
}

/** In ascending order: each role may do all that the ones before it may. */
export const roles = ['viewer', 'runner', 'editor', 'owner'] as const
/** What a caller may do, from reading to owning the service. */
export type Role = (typeof roles)[number]

/** A question to the authorizer: may the caller do this to that kind? */
export type Access = {
  verb: AccessVerb
  kind: AccessKind
  /** Absent: in the whole service. */
  namespace?: string
  name?: string
  /** The model that is requested, when the call is for a provider. */
  model?: string
  /** True when the object names a Secret, before or after the change. */
  namesSecret?: boolean
  /** Facts about the task, when one is created. */
  task?: TaskFacts
  /**
   * Set for a tool of the service itself, which is not an object, so no role mentions it. `coordination`: each action of the
   * tool is checked when it happens.
   */
  serviceTool?: 'builtIn' | 'coordination'
  /** True when a list is filtered for the caller: without the right, the object is left out and nothing counts as refused. */
  entry?: true
}

/** The answer; `reason` is written for the caller. */
export type Decision = { allowed: true } | { allowed: false; reason: string }

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

/**
 * The least role that may read objects of a kind, change them, and run them. Covers every kind, so none can be
 * forgotten.
 */
const minRoles: Record<AccessKind, Record<Deed, Role>> = {
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
  Setting: { read: 'owner', write: 'owner', act: 'owner' },
  /** Written: made wider, for a task or agent, than what its namespace has. */
  Network: { read: 'viewer', write: 'editor', act: 'editor' },
  Metrics: { read: 'viewer', write: 'owner', act: 'owner' },
  Token: { read: 'owner', write: 'owner', act: 'owner' },
  Audit: { read: 'owner', write: 'owner', act: 'owner' },
}

type Asked = Pick<Access, 'verb' | 'kind'>

/** Whether it changes objects of the kind. */
export function isWriting({ verb }: Pick<Access, 'verb'>): boolean {
  return deeds[verb] === 'write'
}

/** The least role that may do it. What an object names may ask for a higher one. */
export function minRoleOf({ verb, kind }: Asked): Role {
  return minRoles[kind][deeds[verb]]
}

/** Whether the role may do what the least one may. */
export function reachesRole(role: Role, min: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(min)
}
