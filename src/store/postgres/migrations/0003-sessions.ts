// Conversations: the session, its messages numbered from 1 per session, and the words of appends that were done.
import type { Migration } from '../../database/migrations.ts'

export const sessionsMigration: Migration = {
  number: 3,
  name: 'sessions',
  statements: `
create table sessions (
  namespace text collate "C" not null,
  name text collate "C" not null,
  session_type text collate "C" not null,
  active_task text collate "C",
  message_count bigint not null,
  last_message_id bigint not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  created_at text collate "C" not null,
  updated_at text collate "C" not null,
  primary key (namespace, name)
);
create index sessions_by_age on sessions (created_at, namespace, name);
create index sessions_by_namespace_age on sessions (namespace, created_at, name);
create index sessions_by_update on sessions (updated_at);
create table session_messages (
  namespace text collate "C" not null,
  name text collate "C" not null,
  id bigint not null,
  body text collate "C" not null,
  primary key (namespace, name, id)
);
create table session_appends (
  namespace text collate "C" not null,
  name text collate "C" not null,
  word text collate "C" not null,
  primary key (namespace, name, word)
);
`,
}
