// The schema of the SQLite store, step by step. New steps are added at the end; released ones are never changed.
import type { Migration } from '../database/migrations.ts'
import { alertTables } from '../database/schema/alerts.ts'
import { sessionParticipantTables } from '../database/schema/conversations.ts'
import { memoryOrigins } from '../database/schema/memory-origins.ts'
import { networkTables } from '../database/schema/network.ts'
import { recordTables, toSqlite } from '../database/schema/records.ts'
import { agentVersionTables } from '../database/schema/service.ts'
import { stepTables } from '../database/schema/steps.ts'
import { storedResponseMakers, storedResponseTables } from '../database/schema/stored-responses.ts'
import { usageAttributes } from '../database/schema/usage-attributes.ts'

/** Resources as JSON text, the values they are looked up by, the version counter, and owners whose dependants must go. */
const resourceTables = `
create table resources (
  id integer primary key,
  kind text not null,
  namespace text not null,
  name text not null,
  resource_version integer not null,
  object text not null,
  created text not null default ''
);
create unique index resources_by_name on resources (kind, namespace, name);
create index resources_by_creation on resources (kind, created);
create index resources_by_namespace_and_creation on resources (kind, namespace, created);

create table resource_index (
  kind text not null,
  field text not null,
  value text not null,
  namespace text not null,
  name text not null,
  primary key (kind, field, value, namespace, name)
) without rowid;

create table resource_counter (
  id integer primary key check (id = 1),
  resource_version integer not null
);

create table absent_owners (
  namespace text not null,
  uid text not null,
  version integer not null,
  primary key (namespace, uid)
) without rowid;
insert into resource_counter (id, resource_version) values (1, 0);
`

const indexes = `
create virtual table transcript_grams using fts5(
  grams, content='', contentless_delete=1, detail=none, tokenize='ascii'
);

create virtual table memory_terms using fts5(
  terms, content = '', contentless_delete = 1, tokenize = "ascii tokenchars '.:'"
);
create virtual table memory_postings using fts5vocab(memory_terms, instance);
`

/** Tasks that were stored before they could be looked up by their session. */
const tasksBySession = `
insert or ignore into resource_index (kind, field, value, namespace, name)
select kind, 'session', json_extract(object, '$.spec.sessionRef.name'), namespace, name from resources
where kind = 'Task' and json_extract(object, '$.spec.sessionRef.name') is not null;
`

/** Tasks that ended before they were counted by the day and their agent. */
const tasksByEnd = `
insert or ignore into resource_index (kind, field, value, namespace, name)
select kind, 'endedBy', substr(json_extract(object, '$.status.completionTime'), 1, 10)
  || ' ' || json_extract(object, '$.status.phase')
  || ' ' || coalesce(json_extract(object, '$.status.failureReason'), '')
  || ' ' || coalesce(json_extract(object, '$.spec.agentRef.name'), ''), namespace, name from resources
where kind = 'Task' and json_extract(object, '$.status.completionTime') is not null
  and json_extract(object, '$.status.phase') in ('Succeeded', 'Failed', 'Cancelled');
`

export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'first release',
    statements: `${resourceTables}${toSqlite(recordTables)}${indexes}`,
    replaces: {
      steps: 35,
      first: '14bcfdf37484b05973f27b53c75e1c2602ef39dd94cb4c7e99f8395375ba75f7',
      all: '477c68e59fae2b8c03eff056e79d777f870a638378775d4776ec099caef094c1',
    },
  },
  { number: 2, name: 'stored responses', statements: toSqlite(storedResponseTables) },
  { number: 3, name: 'memories by origin', statements: memoryOrigins },
  { number: 4, name: 'makers of stored responses', statements: toSqlite(storedResponseMakers) },
  { number: 5, name: 'tasks by session', statements: tasksBySession },
  { number: 6, name: 'attributes of usage', statements: toSqlite(usageAttributes) },
  { number: 7, name: 'alerts', statements: toSqlite(alertTables) },
  { number: 8, name: 'steps of attempts', statements: toSqlite(stepTables) },
  { number: 9, name: 'tasks by their end', statements: tasksByEnd },
  { number: 10, name: 'network of attempts', statements: toSqlite(networkTables) },
  // Logs are files here.
  { number: 11, name: 'pieces of logs by attempt and time', statements: '' },
  { number: 12, name: 'participants of sessions', statements: toSqlite(sessionParticipantTables) },
  { number: 13, name: 'versions of agents', statements: toSqlite(agentVersionTables) },
]
