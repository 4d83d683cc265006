// What finds messages by what they contain: for each piece of a transcript the numbers of its parts of words.
import type { Migration } from '../../database/migrations.ts'

export const transcriptIndexMigration: Migration = {
  number: 23,
  name: 'transcript index',
  statements: `
alter table sessions add column indexed_through integer not null default 0;
create index sessions_unindexed on sessions (namespace, name) where last_message_id > indexed_through;
create table transcript_pieces (
  id integer primary key autoincrement,
  namespace text not null,
  name text not null,
  first_id integer not null,
  last_id integer not null
);
create index transcript_pieces_by_session on transcript_pieces (namespace, name);
create virtual table transcript_grams using fts5(
  grams, content='', contentless_delete=1, detail=none, tokenize='ascii'
);
`,
}
