// Files that tasks are given before they start, as artifacts are kept.
import type { Migration } from '../../database/migrations.ts'

export const inputsMigration: Migration = {
  number: 16,
  name: 'inputs',
  statements: `
create table inputs (
  task_uid text not null,
  filename text not null,
  attempt integer not null,
  size integer not null,
  content_type text not null,
  created_at text not null,
  blob_id text,
  content blob,
  primary key (task_uid, filename)
);
create index inputs_by_blob on inputs (blob_id) where blob_id is not null;
create table input_locks (
  task_uid text primary key
) without rowid;
`,
}
