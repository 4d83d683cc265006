// Which scope a context token needs: each access maps to one action, and each action to its default scope.
import type { Access, AccessKind, AccessVerb } from '../../contract/api/identity/access.ts'

/** Action (the stem of its flag) to the scope that allows it by default. */
export const contextActions = {
  'task-create': 'svc:tasks:create',
  'task-read': 'svc:tasks:get',
  'task-list': 'svc:tasks:list',
  'task-delete': 'svc:tasks:delete',
  'task-update': 'svc:tasks:update',
  'tool-read': 'svc:tools:read',
  'tool-write': 'svc:tools:write',
  'tool-use': 'svc:tools:use',
  'provider-use': 'svc:providers:use',
  'provider-write': 'svc:providers:write',
  'secret-read': 'svc:secrets:read',
  'secret-write': 'svc:secrets:write',
  'secret-credential-read': 'svc:secrets:credentials:read',
  'configmap-read': 'svc:configmaps:read',
  'agent-read': 'svc:agents:read',
  'agent-write': 'svc:agents:write',
  'memory-read': 'svc:memory:read',
  'memory-write': 'svc:memory:write',
  'session-read': 'svc:sessions:read',
  'session-write': 'svc:sessions:write',
  'security-read': 'svc:security:read',
  'security-write': 'svc:security:write',
  'monitor-read': 'svc:monitors:read',
  'monitor-write': 'svc:monitors:write',
  'monitor-operate': 'svc:monitors:operate',
  'skill-read': 'svc:skills:read',
  'skill-write': 'svc:skills:write',
  'usage-read': 'svc:usage:read',
} as const

export type ContextAction = keyof typeof contextActions

type VerbActions = Partial<Record<AccessVerb, ContextAction>>

function splitActions(read: ContextAction, write: ContextAction): VerbActions {
  return { get: read, list: read, create: write, update: write, delete: write }
}

/** Covers every kind, so that a new one cannot be forgotten; no scope allows a verb that is missing. */
const actionsByKind: Record<AccessKind, VerbActions> = {
  Task: {
    get: 'task-read',
    list: 'task-list',
    create: 'task-create',
    update: 'task-update',
    delete: 'task-delete',
  },
  Agent: splitActions('agent-read', 'agent-write'),
  Provider: { ...splitActions('provider-use', 'provider-write'), use: 'provider-use' },
  Tool: { ...splitActions('tool-read', 'tool-write'), use: 'tool-use' },
  Skill: splitActions('skill-read', 'skill-write'),
  RepositoryScan: splitActions('security-read', 'security-write'),
  RepositoryMonitor: { ...splitActions('monitor-read', 'monitor-write'), operate: 'monitor-operate' },
  Secret: { ...splitActions('secret-read', 'secret-write'), use: 'secret-credential-read' },
  ConfigMap: { get: 'configmap-read', list: 'configmap-read' },
  Session: splitActions('session-read', 'session-write'),
  Memory: splitActions('memory-read', 'memory-write'),
  Usage: { get: 'usage-read', list: 'usage-read' },
  // Tokens, the audit log and metrics belong to the owner: no scope of a context token reaches them.
  Token: {},
  Budget: {},
  Setting: {},
  Audit: {},
  Metrics: {},
}

/** The action that needs a scope; undefined when no scope allows the access. */
export function actionOf({ kind, verb }: Pick<Access, 'kind' | 'verb'>): ContextAction | undefined {
  return actionsByKind[kind][verb]
}

/** The action as messages and metrics name it. */
export function nameAction(access: Pick<Access, 'kind' | 'verb'>): string {
  return actionOf(access) ?? `${access.kind.toLowerCase()}-${access.verb}`
}
