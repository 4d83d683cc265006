// Resources live in Kubernetes where records live here; the number is taken so that a step is the same in both databases.
import type { Migration } from '../../database/migrations.ts'

export const creationOrderMigration: Migration = {
  number: 19,
  name: 'creation-order',
  statements: 'select 1',
}
