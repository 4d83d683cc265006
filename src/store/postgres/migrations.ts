// The schema of the PostgreSQL store, step by step. New steps are added at the end; released ones are never changed.
import type { Migration } from '../database/migrations.ts'
import { alertTables } from '../database/schema/alerts.ts'
import { sessionParticipantTables } from '../database/schema/conversations.ts'
import { memoryOrigins } from '../database/schema/memory-origins.ts'
import { networkTables } from '../database/schema/network.ts'
import { recordTables, toPostgres } from '../database/schema/records.ts'
import { agentVersionTables } from '../database/schema/service.ts'
import { stepTables } from '../database/schema/steps.ts'
import { storedResponseMakers, storedResponseTables } from '../database/schema/stored-responses.ts'
import { usageAttributes } from '../database/schema/usage-attributes.ts'

/** What the SQLite store has in files: bodies and logs, in pieces. */
const bodyTables = `
create table blobs (
  id text primary key,
  pieces integer
);

create table blob_pieces (
  blob_id text not null references blobs (id) on delete cascade,
  number integer not null,
  bytes bytea not null,
  primary key (blob_id, number)
);
alter table blob_pieces alter column bytes set storage external;

create table log_heads (
  task_uid text primary key,
  next_seq bigint not null,
  size bigint not null
);

create table log_pieces (
  task_uid text not null,
  first_seq bigint not null,
  size integer not null,
  bytes bytea not null,
  primary key (task_uid, first_seq)
);

-- The beginnings of log lines that have no end yet, one for each task at most; worth nothing after a crash of the database.
create unlogged table unfinished_lines (
  task_uid text primary key,
  bytes bytea not null
);
`

/** What SQLite has virtual tables for. */
const indexTables = `
create table transcript_grams (
  rowid bigint primary key,
  grams smallint[] not null
);
alter table transcript_grams alter column grams set storage main;
create index transcript_grams_by_gram on transcript_grams using gin (grams);

create table memory_terms (
  namespace text not null,
  term text not null,
  memory bigint not null,
  frequency integer not null,
  length integer not null
);
create index memory_terms_by_term on memory_terms (namespace, term) include (memory, frequency, length);
create index memory_terms_by_memory on memory_terms (memory);

create table memory_totals (
  namespace text primary key,
  memories bigint not null,
  terms bigint not null
);
`

/** Which attempts wrote the lines of a piece, and when the newest of them; unknown of older pieces. */
const logPieceColumns = `
alter table log_pieces
  add column first_attempt integer,
  add column last_attempt integer,
  add column newest bigint;
`

export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'first release',
    statements: toPostgres([bodyTables, recordTables, indexTables].join('\n')),
    replaces: {
      steps: 35,
      first: '822ae07d4783158bc1912bb623e5107cc9002d519e1143a9c200ed6ee18b6d0f',
      all: '9eb396b437f679b1211d42019dd5e346d509e963c63dd3b826ca08b404ff218e',
    },
  },
  { number: 2, name: 'stored responses', statements: toPostgres(storedResponseTables) },
  { number: 3, name: 'memories by origin', statements: memoryOrigins },
  { number: 4, name: 'makers of stored responses', statements: toPostgres(storedResponseMakers) },
  // The cluster holds the tasks here, and finds them itself.
  { number: 5, name: 'tasks by session', statements: '' },
  { number: 6, name: 'attributes of usage', statements: toPostgres(usageAttributes) },
  { number: 7, name: 'alerts', statements: toPostgres(alertTables) },
  { number: 8, name: 'steps of attempts', statements: toPostgres(stepTables) },
  { number: 9, name: 'tasks by their end', statements: '' },
  { number: 10, name: 'network of attempts', statements: toPostgres(networkTables) },
  { number: 11, name: 'pieces of logs by attempt and time', statements: logPieceColumns },
  { number: 12, name: 'participants of sessions', statements: toPostgres(sessionParticipantTables) },
  { number: 13, name: 'versions of agents', statements: toPostgres(agentVersionTables) },
]
