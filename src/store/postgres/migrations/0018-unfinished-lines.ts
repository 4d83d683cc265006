// The beginnings of log lines that have no end yet, one for each task at most; worth nothing after a crash of the database.
import type { Migration } from '../../database/migrations.ts'

export const unfinishedLinesMigration: Migration = {
  number: 18,
  name: 'unfinished-lines',
  statements: `
create unlogged table unfinished_lines (
  task_uid text collate "C" primary key,
  bytes bytea not null
);
`,
}
