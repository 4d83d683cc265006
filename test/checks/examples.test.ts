// The OpenAPI documents as generators of clients and readers take them: examples fit their schemas, and objects are of one type.
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import { readSource } from './source-tree.ts'

type Json = { readonly [key: string]: unknown }
type Found = { pointer: string; schema: Json }

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null
const escapeStep = (step: string) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))

/** Every object of the document with its JSON pointer; what stands in examples is not looked into. */
function* listObjects(value: unknown, pointer = ''): Generator<Found> {
  if (!isObject(value)) return
  if (!Array.isArray(value)) yield { pointer, schema: value }
  for (const [step, inner] of Object.entries(value)) {
    if (step !== 'examples') yield* listObjects(inner, `${pointer}/${escapeStep(step)}`)
  }
}

describe.each(['openapi.json', 'openapi-internal.json'])('%s', (name) => {
  const document = JSON.parse(readSource(`docs/${name}`)) as Json
  const found = [...listObjects(document)]

  it('has examples and defaults that fit their schemas', () => {
    const ajv = new Ajv2020({ strict: false })
    formats.default(ajv)
    ajv.addFormat('label-selector', true)
    ajv.addSchema(document, name)
    const isNamed = ({ pointer }: Found) => pointer.endsWith('/properties')
    const shown = found.filter((one) => !isNamed(one) && ('examples' in one.schema || 'default' in one.schema))
    expect(shown.length).toBeGreaterThan(100)
    const misfits = shown.flatMap(({ pointer, schema }) => {
      const fits = ajv.compile({ $ref: `${name}#${pointer}` })
      const values = [
        ...((schema.examples as unknown[] | undefined) ?? []),
        ...('default' in schema ? [schema.default] : []),
      ]
      return values
        .filter((value) => !fits(value))
        .map((value) => `${pointer}: ${JSON.stringify(value)} ${ajv.errorsText(fits.errors)}`)
    })
    expect(misfits).toEqual([])
  })

  it('has no object that is of several schemas at once, of which generators make types that lack its fields', () => {
    const unions = ['anyOf', 'oneOf', 'allOf']
    const split = found.filter(({ schema }) => 'properties' in schema && unions.some((union) => union in schema))
    expect(split.map(({ pointer }) => pointer)).toEqual([])
  })
})
