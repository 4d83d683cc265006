// A table, declared once: which property of a record is stored in which column, and how. The names of columns follow from
// those of the properties (`taskUid` is stored in `task_uid`), and every statement has the same text each time.
import { dropUndefined } from '../../lib/json.ts'
import type { Parameter, Reader } from './database.ts'
import { type Fragment, joinSql, listSql, sql } from './statement.ts'
import { decodeText, encodeText } from './stored-text.ts'

/** What drivers return; PostgreSQL's returns big integers as text. */
type Stored = string | number | bigint | Uint8Array

/** Optional: absent values are null. Generated: the database gives the value. */
type Mode = 'required' | 'optional' | 'generated'

/** How values are stored in a column. */
export type ColumnKind<T, M extends Mode = 'required'> = {
  encode(value: T): Parameter
  decode(stored: Stored): T
  mode: M
  /** Where the column is not named after the property. */
  column?: string
}

// biome-ignore lint/suspicious/noExplicitAny: values of any type, which each column names itself
type Columns = Readonly<Record<string, ColumnKind<any, Mode>>>
type KeysOf<C extends Columns, M extends Mode> = { [K in keyof C]: C[K] extends { mode: M } ? K : never }[keyof C]
type ValueOf<K> = K extends ColumnKind<infer T, Mode> ? T : never

type Optional<C extends Columns> = { [K in KeysOf<C, 'optional'>]?: ValueOf<C[K]> | undefined }
type Draft<C extends Columns> = { [K in KeysOf<C, 'required'>]: ValueOf<C[K]> } & Optional<C>
type Fields<C extends Columns> = { [K in KeysOf<C, 'required' | 'generated'>]: ValueOf<C[K]> } & Optional<C>

/** A record as it is read. */
export type RecordOf<T> = T extends Table<infer C> ? Fields<C> : never

const required = <T>(encode: ColumnKind<T>['encode'], decode: ColumnKind<T>['decode']): ColumnKind<T> => ({
  encode,
  decode,
  mode: 'required',
})

/** Free text. */
export const text = required<string>(encodeText, (stored) => decodeText(stored as string))
const asText = <T extends string>(): ColumnKind<T> =>
  required<T>(
    (value) => value,
    (stored) => stored as T,
  )
/** Text of the service's own making, which needs no escapes: uids, times in RFC 3339. */
export const word = asText<string>()
/** One of some words. */
export const wordOf = <T extends string>(): ColumnKind<T> => asText<T>()
export const number = required<number>((value) => value, Number)
/** 0 or 1. */
export const flag = required<boolean>(
  (value) => (value ? 1 : 0),
  (stored) => Number(stored) === 1,
)
/** A time in RFC 3339. */
export const time = required<Date>(
  (value) => value.toISOString(),
  (stored) => new Date(stored as string),
)
/** JSON escapes NUL and lone surrogates by itself (ECMA-404). */
export const json = <T>(): ColumnKind<T> =>
  required(
    (value) => JSON.stringify(value),
    (stored) => JSON.parse(stored as string) as T,
  )
/** JSON, with its backslashes escaped again. */
export const escapedJson = <T>(): ColumnKind<T> =>
  required(
    (value) => encodeText(JSON.stringify(value)),
    (stored) => JSON.parse(decodeText(stored as string)) as T,
  )
export const optional = <T>(kind: ColumnKind<T>): ColumnKind<T, 'optional'> => ({ ...kind, mode: 'optional' })
export const generated = <T>(kind: ColumnKind<T>): ColumnKind<T, 'generated'> => ({ ...kind, mode: 'generated' })
/** Names the column itself. */
export const column = <T, M extends Mode>(name: string, kind: ColumnKind<T, M>): ColumnKind<T, M> => ({
  ...kind,
  column: name,
})

const namedSql = (name: string): Fragment => ({ text: name, parameters: [] })
const toColumn = (property: string) => property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

type Column = { key: string; name: string; kind: ColumnKind<unknown, Mode> }

export class Table<C extends Columns> {
  readonly #table: string
  readonly #columns: readonly Column[]
  readonly #inserted: readonly Column[]
  readonly #byKey: ReadonlyMap<string, Column>
  readonly #insert: string
  readonly #row: string
  /** `a, b, c`. */
  readonly columns: Fragment

  constructor(table: string, columns: C) {
    this.#table = table
    this.#columns = Object.entries(columns).map(([key, kind]) => ({ key, name: kind.column ?? toColumn(key), kind }))
    this.#inserted = this.#columns.filter(({ kind }) => kind.mode !== 'generated')
    this.#byKey = new Map(this.#columns.map((each) => [each.key, each]))
    this.#insert = `insert into ${table} (${this.#inserted.map(({ name }) => name).join(', ')}) values `
    this.#row = `(${this.#inserted.map(() => '?').join(', ')})`
    this.columns = namedSql(this.#columns.map(({ name }) => name).join(', '))
  }

  #encode(key: string, value: unknown): Parameter {
    return value === undefined ? null : (this.#byKey.get(key)?.kind.encode(value) ?? null)
  }

  #assign(values: Partial<Fields<C>>): Fragment[] {
    return Object.entries(values).map(([key, value]) => ({
      text: `${this.#byKey.get(key)?.name} = ?`,
      parameters: [this.#encode(key, value)],
    }))
  }

  #valuesOf(draft: Draft<C>): Parameter[] {
    return this.#inserted.map(({ key, kind }) => {
      const value = (draft as Record<string, unknown>)[key]
      return value === undefined ? null : kind.encode(value)
    })
  }

  /** `insert into t (...) values (...)`; at least one. */
  insert(...drafts: Draft<C>[]): Fragment {
    const text = this.#insert + drafts.map(() => this.#row).join(', ')
    return { text, parameters: drafts.flatMap((draft) => this.#valuesOf(draft)) }
  }

  /** After an insert: replaces all columns but the keys and `preserved` of the row that has the same keys. */
  replace(keys: readonly (keyof C)[], preserved: readonly (keyof C)[] = []): Fragment {
    const unique = this.#inserted.filter(({ key }) => keys.includes(key)).map(({ name }) => name)
    const replaced = this.#inserted.filter(({ key }) => !keys.includes(key) && !preserved.includes(key))
    const set = replaced.map(({ name }) => `${name} = excluded.${name}`).join(', ')
    return namedSql(` on conflict (${unique.join(', ')}) do update set ${set}`)
  }

  /** `a = ?, b = ?`; undefined empties a column. */
  set(values: Partial<Fields<C>>): Fragment {
    return joinSql(this.#assign(values), ', ')
  }

  /** `a = ? and b = ?`; what is undefined is not compared. */
  match(values: Partial<Fields<C>>): Fragment {
    const present = dropUndefined(values)
    return Object.keys(present).length === 0 ? sql`1 = 1` : joinSql(this.#assign(present as never), ' and ')
  }

  /** `a in (?, ?)`; nothing is in an empty list, which PostgreSQL does not accept. */
  oneOf<K extends keyof C & string>(key: K, values: readonly ValueOf<C[K]>[]): Fragment {
    if (values.length === 0) return sql`1 = 0`
    return sql`${namedSql(this.#byKey.get(key)?.name ?? '')} in (${listSql(values.map((value) => this.#encode(key, value)))})`
  }

  /** A record without the properties whose columns are null. */
  read(row: object): Fields<C> {
    const record: Record<string, unknown> = {}
    for (const { key, name, kind } of this.#columns) {
      const stored = (row as Record<string, Stored | null>)[name]
      if (stored !== null && stored !== undefined) record[key] = kind.decode(stored)
    }
    return record as Fields<C>
  }

  /** The records of `select ... from t` with this after it. */
  async all(reader: Reader, rest: Fragment): Promise<Fields<C>[]> {
    const rows = await reader.all<object>(sql`select ${this.columns} from ${namedSql(this.#table)} ${rest}`)
    return rows.map((row) => this.read(row))
  }

  async first(reader: Reader, rest: Fragment): Promise<Fields<C> | undefined> {
    const row = await reader.first<object>(sql`select ${this.columns} from ${namedSql(this.#table)} ${rest}`)
    return row && this.read(row)
  }

  /** Of the same records only this. */
  async valuesOf<K extends keyof C & string>(reader: Reader, key: K, rest: Fragment): Promise<ValueOf<C[K]>[]> {
    const column = this.#byKey.get(key)
    if (column === undefined) return []
    const rows = await reader.all<{ value: Stored }>(
      sql`select ${namedSql(column.name)} as value from ${namedSql(this.#table)} ${rest}`,
    )
    return rows.map(({ value }) => column.kind.decode(value) as ValueOf<C[K]>)
  }

  /** Runs a statement that changes rows; the first of them as it is then. */
  async returning(tx: Reader, statement: Fragment): Promise<Fields<C> | undefined> {
    const row = await tx.first<object>(sql`${statement} returning ${this.columns}`)
    return row && this.read(row)
  }
}
