// Usage records may be the sum of several calls: those of the proxies are written once a second (USAGE-004).
import type { Migration } from '../../database/migrations.ts'

export const usageCallsMigration: Migration = {
  number: 5,
  name: 'usage-calls',
  statements: 'alter table usage_records add column llm_calls integer not null default 1;',
}
