// The working plan of a task, kept after its end (PLAN-012), with the plans that it replaced.

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

/** A plan as it was saved once. */
export type PlanVersion = Pick<Plan, 'iteration' | 'summary' | 'progressPct' | 'goalComplete' | 'planDocument'> & {
  /** From 1 for each task, rising with each save. */
  number: number
  savedAt: string
}

export interface Plans {
  /**
   * Inserts or replaces the plan of the task; createdAt stays. It is also the newest version; the oldest ones are dropped
   * when there are too many (`planLimits`).
   */
  save(plan: Omit<Plan, 'createdAt' | 'updatedAt'>): Promise<Plan>
  get(taskUid: string): Promise<Plan | undefined>
  /** Newest first; `before`: only with a smaller number. */
  history(taskUid: string, page: { limit: number; before?: number | undefined }): Promise<PlanVersion[]>
  removeTask(taskUid: string): Promise<void>
}
