// Logs are files here, and unfinished lines in memory; the number is taken so that a step is the same in both databases.
import type { Migration } from '../../database/migrations.ts'

export const unfinishedLinesMigration: Migration = {
  number: 18,
  name: 'unfinished-lines',
  statements: 'select 1',
}
