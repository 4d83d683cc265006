// Budgets in SQL: the spec as JSON under its name.
import { BudgetSpec } from '../../contract/api/budgets/budgets.ts'
import type { Budgets } from '../../ports/budgets/usage.ts'
import type { Database } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type BudgetRow = { name: string; spec: string }

export function createBudgets({ database }: { database: Database }): Budgets {
  return {
    async list() {
      const rows = await database.read.all(sql<BudgetRow>`select name, spec from budgets order by name`)
      return rows.map(({ name, spec }) => ({ name: decodeText(name), spec: BudgetSpec.parse(JSON.parse(spec)) }))
    },

    async put({ name, spec }) {
      const text = JSON.stringify(spec)
      await database.write((tx) =>
        tx.run(sql`insert into budgets (name, spec) values (${encodeText(name)}, ${text})
          on conflict (name) do update set spec = ${text}`),
      )
    },

    async remove(name) {
      const { changes } = await database.write((tx) =>
        tx.run(sql`delete from budgets where name = ${encodeText(name)}`),
      )
      return changes === 1
    },
  }
}
