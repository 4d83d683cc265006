// Imports of findings of scanners, each with what was given until it has been taken in.
import type { Migration } from '../../database/migrations.ts'

export const scanImportsMigration: Migration = {
  number: 31,
  name: 'scan-imports',
  statements: `
create table scan_imports (
  scan_uid text not null,
  id text not null,
  is_pending integer,
  digest text not null,
  created_at text not null,
  content text,
  body text not null,
  primary key (scan_uid, id),
  unique (scan_uid, is_pending)
);
create index scan_imports_by_age on scan_imports (scan_uid, created_at, id);
`,
}
