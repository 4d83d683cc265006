// Stored budgets; what is spent of them is computed from the usage records.
import type { BudgetSpec } from '../../contract/api/budgets/budgets.ts'

export type Budget = { name: string; spec: BudgetSpec }

export interface Budgets {
  /** All budgets, sorted by name. */
  list(): Promise<Budget[]>
  /** Creates the budget or replaces the one of the same name. */
  put(budget: Budget): Promise<void>
  /** False when it did not exist. */
  remove(name: string): Promise<boolean>
}
