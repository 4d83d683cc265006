// The config maps of embedded mode, one row each.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ConfigMap, ConfigMapDraft, ConfigMaps } from '../../ports/resources/configmaps.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Database, Tx } from '../database/database.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'

type Row = { namespace: string; name: string; body: string; version: number | bigint; created_at: string }
type Body = Pick<ConfigMap, 'data' | 'labels' | 'annotations'>

function matchKey({ namespace, name }: ResourceKey): Fragment {
  return sql`namespace = ${encodeText(namespace)} and name = ${encodeText(name)}`
}

function toConfigMap(row: Row): ConfigMap {
  return {
    namespace: decodeText(row.namespace),
    name: decodeText(row.name),
    ...(JSON.parse(decodeText(row.body)) as Body),
    resourceVersion: String(row.version),
    createdAt: row.created_at,
  }
}

function encodeBody({ data, labels = {}, annotations = {} }: ConfigMapDraft): string {
  return encodeText(JSON.stringify({ data, labels, annotations }))
}

function notFound({ namespace, name }: ResourceKey): SvcError {
  return new SvcError('NotFound', `There is no config map ${namespace}/${name}.`)
}

function checkVersion(present: ConfigMap, wanted: string | undefined): void {
  if (wanted === undefined || wanted === present.resourceVersion) return
  const { namespace, name } = present
  throw new SvcError(
    'Conflict',
    `the config map ${namespace}/${name} was changed in the meantime; read it and try again`,
  )
}

export function createConfigMaps({ database, clock }: { database: Database; clock: Clock }): ConfigMaps {
  const listeners = new Set<(key: ResourceKey) => void>()
  const announce = ({ namespace, name }: ResourceKey) => {
    for (const listener of listeners) listener({ namespace, name })
  }
  const find = (reader: Pick<Tx, 'first'>, key: ResourceKey) =>
    reader.first(sql<Row>`select * from config_maps where ${matchKey(key)}`)

  async function read(reader: Pick<Tx, 'first'>, key: ResourceKey): Promise<ConfigMap> {
    const row = await find(reader, key)
    if (row === undefined) throw notFound(key)
    return toConfigMap(row)
  }

  async function insert(tx: Tx, draft: ConfigMapDraft): Promise<ConfigMap> {
    const createdAt = `${clock.now().toISOString().slice(0, 19)}Z`
    const { changes } = await tx.run(sql`insert into config_maps (namespace, name, body, version, created_at)
      values (${encodeText(draft.namespace)}, ${encodeText(draft.name)}, ${encodeBody(draft)}, 1, ${createdAt})
      on conflict (namespace, name) do nothing`)
    if (changes === 1) return await read(tx, draft)
    const message = `The config map ${draft.namespace}/${draft.name} exists already: change it, or choose another name.`
    throw new SvcError('AlreadyExists', message)
  }

  async function update(tx: Tx, draft: ConfigMapDraft, wanted: string | undefined): Promise<ConfigMap> {
    const present = await read(tx, draft)
    checkVersion(present, wanted)
    const { labels = present.labels, annotations = present.annotations } = draft
    const { changes } = await tx.run(sql`update config_maps
      set body = ${encodeBody({ ...draft, labels, annotations })}, version = version + 1
      where ${matchKey(draft)} and version = ${Number(present.resourceVersion)}`)
    if (changes === 1) return await read(tx, draft)
    throw new SvcError('Conflict', 'the config map was changed in the meantime; read it and try again')
  }

  return {
    async get(key) {
      const row = await find(database.read, key)
      return row && toConfigMap(row)
    },
    async list(namespace) {
      const condition = namespace === undefined ? sql`1 = 1` : sql`namespace = ${encodeText(namespace)}`
      const rows = await database.read.all(sql<Row>`
        select * from config_maps where ${condition} order by namespace, name`)
      return rows.map(toConfigMap)
    },
    async create(draft) {
      const made = await database.write((tx) => insert(tx, draft))
      announce(made)
      return made
    },
    async replace(draft, resourceVersion) {
      const changed = await database.write((tx) => update(tx, draft, resourceVersion))
      announce(changed)
      return changed
    },
    async remove(key) {
      const { changes } = await database.write((tx) => tx.run(sql`delete from config_maps where ${matchKey(key)}`))
      if (changes === 0) throw notFound(key)
      announce(key)
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
