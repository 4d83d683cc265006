// Execution workspaces, and which attempt holds which.
import type { Migration } from '../../database/migrations.ts'

export const executionWorkspacesMigration: Migration = {
  number: 30,
  name: 'execution workspaces',
  statements: `
create table execution_workspaces (
  provider text not null,
  namespace text not null,
  name text not null,
  owner text not null,
  task_uid text,
  attempt integer,
  task_name text,
  step text,
  facts text not null,
  created_at text not null,
  used_at text not null,
  primary key (provider, namespace, name)
) without rowid;
create table execution_workspace_owners (
  owner text not null primary key
);
create index execution_workspaces_by_owner on execution_workspaces (owner);
create index execution_workspaces_by_holder on execution_workspaces (task_uid);
`,
}
