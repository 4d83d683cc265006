// Runs statements on one connection, each prepared once.
import type Sqlite from 'better-sqlite3'
import { SvcError } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { codeOf } from '../../lib/error-code.ts'
import type { Statement } from '../database/database.ts'

/** How many statements stay prepared; lists of varying length give new texts without end, so the oldest are dropped. */
const maxPrepared = 300

export type Executor = {
  all<R>(statement: Statement<R>): R[]
  first<R>(statement: Statement<R>): R | undefined
  run(statement: Statement): { changes: number }
}

/** What whoever runs the service can do about it. */
function adviseOn(code: string): string {
  if (!/^SQLITE_(IOERR|READONLY)/.test(code)) return ''
  return " Its disk fails or is read-only: see the machine's log, and start the service again on one that can be written."
}

/** SQLite's code as an error of the service; any other error stays as it is (https://sqlite.org/rescode.html). */
export function translateError(error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'SQLITE_FULL') {
    const advice = 'The disk is full: nothing was written. Free some space in the data folder and try again.'
    return new SvcError('StorageFull', advice, { cause: error })
  }
  if (/^SQLITE_(IOERR|BUSY|LOCKED|READONLY|CORRUPT|NOTADB|CANTOPEN|NOMEM)/.test(code)) {
    const reason = `${code}): ${String((error as Error).message)}`
    const message = `The database cannot be used now (${reason}.${adviseOn(code)}`
    return new SvcError('Unavailable', message, { cause: error })
  }
  return error
}

export function createExecutor(connection: Sqlite.Database): Executor {
  const prepared = new BoundedMap<string, Sqlite.Statement>({ max: maxPrepared })

  function prepare(text: string): Sqlite.Statement {
    const known = prepared.get(text)
    if (known !== undefined) return known
    const made = connection.prepare(text)
    prepared.set(text, made)
    return made
  }

  function attempt<T>(statement: Statement, action: (prepared: Sqlite.Statement) => T): T {
    try {
      return action(prepare(statement.text))
    } catch (error) {
      throw translateError(error)
    }
  }

  return {
    all: <R>(statement: Statement<R>) => attempt(statement, (made) => made.all(...statement.parameters) as R[]),
    first: <R>(statement: Statement<R>) =>
      attempt(statement, (made) => made.get(...statement.parameters) as R | undefined),
    run: (statement) => attempt(statement, (made) => ({ changes: made.run(...statement.parameters).changes })),
  }
}
