// What somebody wants to do, in the words that every edge, rule and authorizer share.
import type { Kind } from './resources/index.ts'

/** `use`: have it act (a tool, a provider, the credential in a secret); `operate`: start a run of a monitor. */
export type AccessVerb = 'get' | 'list' | 'create' | 'update' | 'delete' | 'use' | 'operate'

/** Kinds of resources, and of what else is guarded. */
export type AccessKind =
  | Kind
  | 'Secret'
  | 'ConfigMap'
  | 'Session'
  | 'Memory'
  | 'Usage'
  | 'Budget'
  | 'Token'
  | 'Audit'
  | 'Metrics'

/** Of the cluster itself: nobody's to write in. */
export const systemNamespaces: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease']

/** What a task would do, for the constraints of a context token. */
export type TaskFacts = {
  type: string
  /** Absent: the task has none. */
  agent?: { namespace: string; name: string }
  /** Every repository that is cloned, with what is checked out. */
  workspaces: { repo?: string; branch?: string; ref?: string }[]
  /** The model that is used, then its fallbacks; a provider or model that is not known yet is absent. */
  models: { namespace?: string; provider?: string; model?: string }[]
  /** The tools the task has; `any`: its runtime decides. */
  tools: { namespace: string; name: string }[] | 'any'
}

/** From the least to the most: each may do what those before it may. */
export const roles = ['viewer', 'runner', 'editor', 'owner'] as const
/** What a caller may do, from reading to owning the service. */
export type Role = (typeof roles)[number]

/** What is done to which kind, asked of the authorizer. */
export type Access = {
  verb: AccessVerb
  kind: AccessKind
  /** Absent: of the whole service. */
  namespace?: string
  name?: string
  /** Of a provider that is to answer a call: the model that it is asked for. */
  model?: string
  /** The object names a Secret, now or before the change. */
  namesSecret?: boolean
  /** Of a task that is to be created. */
  task?: TaskFacts
  /**
   * The tool is the service's own and not an object, so roles know nothing of it. `coordination`: what it does takes a right of
   * its own, asked for when it does it.
   */
  serviceTool?: 'builtIn' | 'coordination'
  /** It is one of a list that is made for the caller: without the right it is left out, and nobody is refused anything. */
  entry?: true
}

/** `reason` in words for the caller. */
export type Decision = { allowed: true } | { allowed: false; reason: string }
