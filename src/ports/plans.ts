// The working plan of a task, kept after its end (PLAN-012).

export type Plan = {
  taskUid: string
  namespace: string
  taskName: string
  iteration: number
  summary: string
  /** 0..100. */
  progressPct: number
  goalComplete: boolean
  planDocument: string
  createdAt: string
  updatedAt: string
}

export interface Plans {
  /** Inserts or replaces the plan of the task; createdAt stays. */
  save(plan: Omit<Plan, 'createdAt' | 'updatedAt'>): Promise<Plan>
  get(taskUid: string): Promise<Plan | undefined>
  removeTask(taskUid: string): Promise<void>
}
