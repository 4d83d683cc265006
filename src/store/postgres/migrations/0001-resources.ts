// Resources live in Kubernetes where records live here; the number is taken so that a step is the same in both databases.
import type { Migration } from '../../database/migrations.ts'

export const resourcesMigration: Migration = {
  number: 1,
  name: 'resources',
  statements: 'select 1',
}
