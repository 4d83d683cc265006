// Who did what, and who was refused what.
import type { Migration } from '../../database/migrations.ts'

export const auditMigration: Migration = {
  number: 6,
  name: 'audit',
  statements: `
create table audit_records (
  id text primary key,
  created_at text not null,
  caller text,
  auth_type text,
  via text not null,
  verb text not null,
  kind text,
  namespace text,
  name text,
  route text,
  address text,
  allowed integer not null,
  status integer,
  request_id text
);
create index audit_by_age on audit_records (created_at, id);
create index audit_by_namespace on audit_records (namespace, created_at, id) where namespace is not null;
create index audit_by_caller on audit_records (caller, created_at, id) where caller is not null;
`,
}
