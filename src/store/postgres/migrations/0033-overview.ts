// As in SQLite, without the tasks, which live in Kubernetes.
import type { Migration } from '../../database/migrations.ts'
import { recordStatements } from '../../sqlite/migrations/0033-overview.ts'

export const overviewMigration: Migration = { number: 33, name: 'overview', statements: recordStatements }
