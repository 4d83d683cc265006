// The tables of records as one text, which each dialect writes in its own types.
import { conversationTables } from './conversations.ts'
import { repositoryTables } from './repositories.ts'
import { serviceTables } from './service.ts'
import { taskTables } from './tasks.ts'

/**
 * With the types of PostgreSQL, and two that both dialects replace: `identity`, a number that rises with each row, and
 * `identity reusable`, one that a later row may have again when its row was the last.
 */
export const recordTables = [taskTables, conversationTables, serviceTables, repositoryTables].join('\n')

/** Times and ids are compared as bytes, whatever the locale of the database. */
export function toPostgres(tables: string): string {
  return tables
    .replaceAll(/\bidentity( reusable)?\b/g, 'bigint generated always as identity primary key')
    .replaceAll(/\btext\b/g, 'text collate "C"')
    .replaceAll(' without rowid', '')
}

/** SQLite has bodies as files, so that nothing refers to a table of them. */
export function toSqlite(tables: string): string {
  return tables
    .replaceAll(' references blobs (id)', '')
    .replaceAll(/\bidentity reusable\b/g, 'integer primary key')
    .replaceAll(/\bidentity\b/g, 'integer primary key autoincrement')
    .replaceAll(/\b(bigint|smallint)\b/g, 'integer')
    .replaceAll(/\bdouble precision\b/g, 'real')
    .replaceAll(/\bbytea\b/g, 'blob')
}
