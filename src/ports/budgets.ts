// Budgets as they are kept; what is spent of them follows from the usage records.
import type { BudgetSpec } from '../contract/api/budgets.ts'

export type Budget = { name: string; spec: BudgetSpec }

export interface Budgets {
  /** All, by name. */
  list(): Promise<Budget[]>
  /** Makes it, or replaces the one of the name. */
  put(budget: Budget): Promise<void>
  /** False when there was none. */
  remove(name: string): Promise<boolean>
}
