// Who did what, and who was refused what.
import type { Migration } from '../../database/migrations.ts'

export const auditMigration: Migration = {
  number: 6,
  name: 'audit',
  statements: `
create table audit_records (
  id text collate "C" primary key,
  created_at text collate "C" not null,
  caller text collate "C",
  auth_type text collate "C",
  via text collate "C" not null,
  verb text collate "C" not null,
  kind text collate "C",
  namespace text collate "C",
  name text collate "C",
  route text collate "C",
  address text collate "C",
  allowed integer not null,
  status integer,
  request_id text collate "C"
);
create index audit_by_age on audit_records (created_at, id);
create index audit_by_namespace on audit_records (namespace, created_at, id) where namespace is not null;
create index audit_by_caller on audit_records (caller, created_at, id) where caller is not null;
`,
}
