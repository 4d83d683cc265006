// Budgets, each as JSON under its name.
import type { Migration } from '../../database/migrations.ts'

export const budgetsMigration: Migration = {
  number: 17,
  name: 'budgets',
  statements: `
create table budgets (
  name text collate "C" primary key,
  spec text collate "C" not null
);
`,
}
