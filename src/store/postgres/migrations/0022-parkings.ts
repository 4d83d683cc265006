// What parked tasks wait for, and the approvals that tasks have asked people for.
import type { Migration } from '../../database/migrations.ts'

export const parkingsMigration: Migration = {
  number: 22,
  name: 'parkings',
  statements: `
create table parkings (
  task_uid text collate "C" not null primary key,
  attempt bigint not null,
  waits text collate "C" not null
);
create table approvals (
  id text collate "C" not null primary key,
  namespace text collate "C" not null,
  task_uid text collate "C" not null,
  task_name text collate "C" not null,
  agent_name text collate "C",
  call text collate "C" not null,
  tool text collate "C" not null,
  arguments text collate "C" not null,
  message text collate "C" not null,
  status text collate "C" not null,
  created_at text collate "C" not null,
  expires_at text collate "C" not null,
  answered_at text collate "C",
  answered_by text collate "C",
  reason text collate "C"
);
create unique index approvals_by_call on approvals (task_uid, call);
create index approvals_by_status on approvals (status, created_at);
`,
}
