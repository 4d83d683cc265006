// What chat is made from.

import type { OrchestrationDeps } from '../coordination/orchestration/tasks.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import type { SessionUsecases } from './sessions.ts'

export type ChatDeps = UsecaseDeps & Omit<OrchestrationDeps, keyof UsecaseDeps> & { sessions: SessionUsecases }
