// What a session is about, for lists of conversations.
import type { Migration } from '../../database/migrations.ts'

export const sessionTitlesMigration: Migration = {
  number: 35,
  name: 'session titles',
  statements: 'alter table sessions add column title text',
}
