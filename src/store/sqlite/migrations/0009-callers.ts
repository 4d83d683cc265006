// Callers are told apart by kind and id, and what a model or a task does says in which session or task. What was written
// before has the name alone.
import type { Migration } from '../../database/migrations.ts'

export const callersMigration: Migration = {
  number: 9,
  name: 'callers',
  statements: `
alter table usage_records add column caller_kind text;
alter table usage_records add column caller_id text;
alter table audit_records add column caller_id text;
alter table audit_records add column session text;
alter table audit_records add column task_uid text;
create index audit_by_caller_id on audit_records (caller_id, created_at, id) where caller_id is not null;
`,
}
