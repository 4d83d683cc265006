// What parked tasks wait for, and the approvals that tasks have asked people for.
import type { Migration } from '../../database/migrations.ts'

export const parkingsMigration: Migration = {
  number: 22,
  name: 'parkings',
  statements: `
create table parkings (
  task_uid text not null primary key,
  attempt integer not null,
  waits text not null
);
create table approvals (
  id text not null primary key,
  namespace text not null,
  task_uid text not null,
  task_name text not null,
  agent_name text,
  call text not null,
  tool text not null,
  arguments text not null,
  message text not null,
  status text not null,
  created_at text not null,
  expires_at text not null,
  answered_at text,
  answered_by text,
  reason text
);
create unique index approvals_by_call on approvals (task_uid, call);
create index approvals_by_status on approvals (status, created_at);
`,
}
