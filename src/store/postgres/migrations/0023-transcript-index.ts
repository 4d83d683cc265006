// What finds messages by what they contain: for each piece of a transcript the numbers of its parts of words.
import type { Migration } from '../../database/migrations.ts'

export const transcriptIndexMigration: Migration = {
  number: 23,
  name: 'transcript index',
  statements: `
alter table sessions add column indexed_through bigint not null default 0;
create index sessions_unindexed on sessions (namespace, name) where last_message_id > indexed_through;
create table transcript_pieces (
  id bigint generated always as identity primary key,
  namespace text collate "C" not null,
  name text collate "C" not null,
  first_id bigint not null,
  last_id bigint not null
);
create index transcript_pieces_by_session on transcript_pieces (namespace, name);
create table transcript_grams (
  rowid bigint primary key,
  grams smallint[] not null
);
alter table transcript_grams alter column grams set storage main;
create index transcript_grams_by_gram on transcript_grams using gin (grams);
`,
}
