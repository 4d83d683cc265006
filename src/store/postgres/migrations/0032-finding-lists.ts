// As in SQLite: the statements are the same.
export { findingListsMigration } from '../../sqlite/migrations/0032-finding-lists.ts'
