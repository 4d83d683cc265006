// Runs statements on one connection; repeated statements are prepared there once.
import type { QueryConfig, QueryResult } from 'pg'
import type { Statement } from '../database/database.ts'

/** Statements that get a name; lists of varying length give new texts without end, which are not prepared. */
const maxNamed = 300

export type QueryRunner = { query(query: QueryConfig): Promise<QueryResult> }

export type Executor = {
  all<R>(statement: Statement<R>): Promise<R[]>
  first<R>(statement: Statement<R>): Promise<R | undefined>
  run(statement: Statement): Promise<{ changes: number }>
}

type Prepared = { text: string; name?: string }

/** `?` to `$1`, `$2` ...; statement.ts promises that no `?` is anything else. */
function numberPlaceholders(text: string): string {
  let number = 0
  return text.replaceAll('?', () => {
    number += 1
    return `$${number}`
  })
}

export type Preparer = {
  prepare(statement: Statement): QueryConfig
  /** Has every statement prepared again, on every connection. */
  forget(): void
}

/** The text and name of a statement for pg; shared by all connections of a process. */
export function createPreparer(): Preparer {
  const known = new Map<string, Prepared>()
  let names = 0
  function find(text: string): Prepared {
    const found = known.get(text)
    if (found !== undefined) return found
    const numbered = numberPlaceholders(text)
    if (known.size >= maxNamed) return { text: numbered }
    names += 1
    const made = { text: numbered, name: `svc${names}` }
    known.set(text, made)
    return made
  }
  return {
    prepare: ({ text, parameters }) => ({ ...find(text), values: parameters }),
    forget: () => known.clear(),
  }
}

export function createExecutor(runner: QueryRunner, { prepare }: Preparer): Executor {
  return {
    all: async <R>(statement: Statement<R>) => (await runner.query(prepare(statement))).rows as R[],
    first: async <R>(statement: Statement<R>) => (await runner.query(prepare(statement))).rows[0] as R | undefined,
    run: async (statement) => ({ changes: (await runner.query(prepare(statement))).rowCount ?? 0 }),
  }
}
