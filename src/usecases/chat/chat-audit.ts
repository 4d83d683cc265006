// The use cases as a model in chat calls them: the same ones, with each write recorded in the audit log.
import type { Kind } from '../../contract/kinds/index.ts'
import { type AuditLog, noteChat } from '../identity/audit-log.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { requestCancel } from '../tasks/cancel.ts'
import type { SessionUsecases } from './sessions.ts'

type TaskCancel = {
  cancel(
    ...args: Parameters<typeof requestCancel> extends [unknown, ...infer Rest] ? Rest : never
  ): ReturnType<typeof requestCancel>
}

type Audited<T> = { resources: ResourceUsecases; tasks: T; sessions: SessionUsecases }

function auditResources(log: AuditLog, resources: ResourceUsecases): ResourceUsecases {
  return {
    ...resources,
    create(caller, kind, body) {
      const { namespace, metadata } = body
      const target = { verb: 'create' as const, kind: kind as Kind, namespace, name: metadata.name }
      return noteChat(log, caller, target, () => resources.create(caller, kind, body))
    },
    replace(caller, kind, key, body) {
      const target = { verb: 'update' as const, kind: kind as Kind, ...key }
      return noteChat(log, caller, target, () => resources.replace(caller, kind, key, body))
    },
    remove(caller, kind, key, preconditions) {
      const target = { verb: 'delete' as const, kind: kind as Kind, ...key }
      return noteChat(log, caller, target, () => resources.remove(caller, kind, key, preconditions))
    },
  }
}

export function auditForChat<T extends TaskCancel>(log: AuditLog, usecases: Audited<T>): Audited<T> {
  const { tasks, sessions } = usecases
  return {
    resources: auditResources(log, usecases.resources),
    tasks: {
      ...tasks,
      cancel(caller, key, reason) {
        return noteChat(log, caller, { verb: 'update', kind: 'Task', ...key }, () => tasks.cancel(caller, key, reason))
      },
    },
    sessions: {
      ...sessions,
      remove(caller, key) {
        return noteChat(log, caller, { verb: 'delete', kind: 'Session', ...key }, () => sessions.remove(caller, key))
      },
    },
  }
}
