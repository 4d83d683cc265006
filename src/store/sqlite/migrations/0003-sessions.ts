// Conversations: the session, its messages numbered from 1 per session, and the words of appends that were done.
import type { Migration } from '../../database/migrations.ts'

export const sessionsMigration: Migration = {
  number: 3,
  name: 'sessions',
  statements: `
create table sessions (
  namespace text not null,
  name text not null,
  session_type text not null,
  active_task text,
  message_count integer not null,
  last_message_id integer not null,
  input_tokens integer not null,
  output_tokens integer not null,
  created_at text not null,
  updated_at text not null,
  primary key (namespace, name)
) without rowid;
create index sessions_by_age on sessions (created_at, namespace, name);
create index sessions_by_namespace_age on sessions (namespace, created_at, name);
create index sessions_by_update on sessions (updated_at);
create table session_messages (
  namespace text not null,
  name text not null,
  id integer not null,
  body text not null,
  primary key (namespace, name, id)
);
create table session_appends (
  namespace text not null,
  name text not null,
  word text not null,
  primary key (namespace, name, word)
) without rowid;
`,
}
