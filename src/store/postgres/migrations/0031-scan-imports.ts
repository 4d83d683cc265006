// Imports of findings of scanners, each with what was given until it has been taken in.
import type { Migration } from '../../database/migrations.ts'

export const scanImportsMigration: Migration = {
  number: 31,
  name: 'scan-imports',
  statements: `
create table scan_imports (
  scan_uid text collate "C" not null,
  id text collate "C" not null,
  is_pending smallint,
  digest text collate "C" not null,
  created_at text collate "C" not null,
  content text collate "C",
  body text collate "C" not null,
  primary key (scan_uid, id),
  unique (scan_uid, is_pending)
);
create index scan_imports_by_age on scan_imports (scan_uid, created_at, id);
`,
}
