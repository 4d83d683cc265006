// Input tokens that were written to a vendor's cache, apart from the other input.
import type { Migration } from '../../database/migrations.ts'

export const cacheWritesMigration: Migration = {
  number: 20,
  name: 'cache-writes',
  statements: `
alter table usage_records add column cache_write_tokens integer not null default 0;
`,
}
