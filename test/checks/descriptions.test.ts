// Whatever a user can set or read says what it is: fields of kinds, of the API and its operations.
import { describe, expect, it } from 'vitest'
import { describeSettings, type Setting, type SettingName, settings } from '../../src/config/settings.ts'
import { routesByName } from '../../src/contract/api/index.ts'
import { buildOpenApi } from '../../src/contract/api/service/openapi.ts'
import { kindNames } from '../../src/contract/kinds/index.ts'
import { buildCrd } from '../../src/contract/schema/crd.ts'
import { listFiles, readSource } from './source-tree.ts'

type Json = { readonly [key: string]: unknown }

type Found = { path: string; schema: Json }

function childrenOf(schema: Json): [string, Json][] {
  // Without a type it is a rule about fields that are declared beside it.
  const declared = schema.type === 'object' ? schema.properties : undefined
  const named = Object.entries((declared ?? {}) as Record<string, Json>)
  const unions = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (schema[key] ?? []) as Json[])
  const nested = [schema.items, schema.additionalProperties, ...unions].filter(
    (value): value is Json => typeof value === 'object' && value !== null,
  )
  return [
    ...named.map(([name, child]): [string, Json] => [`.${name}`, child]),
    ...nested.map((child): [string, Json] => ['', child]),
  ]
}

/** Every named field below a schema. */
function listFields(schema: Json, path: string): Found[] {
  return childrenOf(schema).flatMap(([step, child]) => [
    ...(step === '' ? [] : [{ path: path + step, schema: child }]),
    ...listFields(child, path + step),
  ])
}

const isDescribed = ({ schema }: Found) => typeof schema.description === 'string' && schema.description.length > 2

/** Whether a reader sees what a value looks like: by an example, by a default, or because there are only a few. */
function showsValue(schema: Json): boolean {
  if (['example', 'examples', 'default', 'enum', 'const', '$ref', 'properties'].some((key) => key in schema))
    return true
  if (schema.type === 'boolean' || schema.format === 'date-time') return true
  const choices = (schema.anyOf ?? schema.oneOf ?? schema.allOf) as Json[] | undefined
  if (choices !== undefined) return choices.some(showsValue)
  const { items } = schema
  return typeof items === 'object' && items !== null && showsValue(items as Json)
}

/** Free forms and what the service ignores have no values to show. */
const isOpen = (schema: Json) => schema.type === undefined && Object.keys(schema).every((key) => key === 'description')

const document = buildOpenApi(routesByName, { version: '0' }) as {
  paths: Record<string, Record<string, { summary: string; description: string; parameters?: Json[] }>>
  components: { schemas: Record<string, Json> }
}

describe('descriptions', () => {
  it('exist for every field of every kind', () => {
    const fields = kindNames.flatMap((kind) => {
      const crd = buildCrd(kind) as unknown as { spec: { versions: { schema: { openAPIV3Schema: Json } }[] } }
      const { spec, status } = (crd.spec.versions[0]?.schema.openAPIV3Schema.properties ?? {}) as Record<string, Json>
      return [...listFields(spec ?? {}, `${kind}.spec`), ...listFields(status ?? {}, `${kind}.status`)]
    })
    expect(fields.length).toBeGreaterThan(500)
    expect(fields.filter((field) => !isDescribed(field)).map(({ path }) => path)).toEqual([])
  })

  const fields = Object.entries(document.components.schemas).flatMap(([name, schema]) => listFields(schema, name))

  it('exist, with an example, for every field of the API', () => {
    expect(fields.length).toBeGreaterThan(1000)
    expect(fields.filter((field) => !isDescribed(field)).map(({ path }) => path)).toEqual([])
    const bare = fields.filter(({ schema }) => !showsValue(schema) && !isOpen(schema))
    expect(bare.map(({ path }) => path)).toEqual([])
  })

  it('exist, with an example, for every operation and parameter', () => {
    expect(Object.keys(document.paths).length).toBeGreaterThan(40)
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { summary, description, parameters = [] }] of Object.entries(operations)) {
        const where = `${method} ${path}`
        expect(summary, where).toMatch(/\w/)
        expect(description, where).toMatch(/\.$/)
        for (const { name, description: meaning, schema } of parameters) {
          expect(meaning, `${where} ${name}`).toMatch(/\w/)
          expect(showsValue(schema as Json), `${where} ${name} shows no value`).toBe(true)
        }
      }
    }
  })
})

describe('settings', () => {
  it.each(describeSettings())('$name has a description and an example value', (setting) => {
    expect(setting.help).toMatch(/\w{3}/)
    const { secret }: Setting = settings[setting.name as SettingName]
    const shows = setting.example ?? (setting.default || setting.values[0])
    // What a secret looks like is nobody's business.
    expect(secret === true || shows !== undefined, setting.name).toBe(true)
  })

  it('belong to one group each', () => {
    expect(
      describeSettings()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(Object.keys(settings).sort())
  })
})

describe('definitions of kinds', () => {
  it('are small enough for kubectl apply, which keeps a copy in an annotation of at most 256 KiB', () => {
    for (const kind of kindNames) expect(JSON.stringify(buildCrd(kind)).length, kind).toBeLessThan(200_000)
  })
})

describe('shapes of the contract', () => {
  it('have one doc comment each', () => {
    const files = listFiles('src/contract', ['.ts']).filter((path) => !path.endsWith('.test.ts'))
    const bare = files.flatMap((path) => {
      const lines = readSource(path).split('\n')
      const shapes = lines.flatMap((line, index) => {
        const [, name] = /^export (?:const|type) ([A-Z]\w*)/.exec(line) ?? []
        // The type of a shape stands below it and has its name.
        const isTypeOfShape = line.includes(`= z.infer<typeof ${name}>`)
        return name === undefined || isTypeOfShape || lines[index - 1]?.endsWith('*/') ? [] : [name]
      })
      return shapes.map((name) => `${path}: ${name}`)
    })
    expect(files.length).toBeGreaterThan(50)
    expect(bare).toEqual([])
  })
})
