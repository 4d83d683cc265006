// What chat is made from.
import type { UsecaseDeps } from '../deps.ts'
import type { OrchestrationDeps } from '../orchestration/tasks.ts'
import type { SessionUsecases } from '../sessions.ts'

export type ChatDeps = UsecaseDeps & Omit<OrchestrationDeps, keyof UsecaseDeps> & { sessions: SessionUsecases }
