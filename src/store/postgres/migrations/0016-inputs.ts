// Files that tasks are given before they start, as artifacts are kept.
import type { Migration } from '../../database/migrations.ts'

export const inputsMigration: Migration = {
  number: 16,
  name: 'inputs',
  statements: `
create table inputs (
  task_uid text collate "C" not null,
  filename text collate "C" not null,
  attempt integer not null,
  size bigint not null,
  content_type text collate "C" not null,
  created_at text collate "C" not null,
  blob_id text collate "C" references blobs (id),
  content bytea,
  primary key (task_uid, filename)
);
create index inputs_by_blob on inputs (blob_id) where blob_id is not null;
create table input_locks (
  task_uid text collate "C" primary key
);
`,
}
