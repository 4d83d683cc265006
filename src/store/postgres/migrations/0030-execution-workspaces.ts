// Execution workspaces, and which attempt holds which.
import type { Migration } from '../../database/migrations.ts'

export const executionWorkspacesMigration: Migration = {
  number: 30,
  name: 'execution workspaces',
  statements: `
create table execution_workspaces (
  provider text collate "C" not null,
  namespace text collate "C" not null,
  name text collate "C" not null,
  owner text collate "C" not null,
  task_uid text collate "C",
  attempt bigint,
  task_name text collate "C",
  step text collate "C",
  facts text collate "C" not null,
  created_at text collate "C" not null,
  used_at text collate "C" not null,
  primary key (provider, namespace, name)
);
create table execution_workspace_owners (
  owner text collate "C" not null primary key
);
create index execution_workspaces_by_owner on execution_workspaces (owner);
create index execution_workspaces_by_holder on execution_workspaces (task_uid);
`,
}
