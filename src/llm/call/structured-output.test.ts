import { describe, expect, it } from 'vitest'
import { createScriptedModel, failCall, sayText } from '../../../test/fixtures/llm/scripted-model.ts'
import { askText, listEvents } from '../../../test/fixtures/llm/wire.ts'
import { encodeRequest as encodeLlma } from '../llma/encode.ts'
import { encodeRequest as encodeLlmo } from '../llmo/encode.ts'
import { isStrict, withStructuredOutput } from './structured-output.ts'

const item = {
  type: 'object',
  properties: { a: { type: ['string', 'null'] } },
  required: ['a'],
  additionalProperties: false,
}
const strict = {
  type: 'object',
  properties: { list: { type: 'array', items: { $ref: '#/$defs/item' } }, kind: { enum: [1, 2] } },
  required: ['list', 'kind'],
  additionalProperties: false,
  $defs: { item },
}
const request = { ...askText('hello'), outputSchema: strict }

describe("a vendor's own structured output", () => {
  it('is asked for in the words of each family', () => {
    expect(encodeLlma(request, 'm').output_config).toEqual({ format: { type: 'json_schema', schema: strict } })
    const options = { model: 'm', maxTokensField: 'max_tokens' } as const
    expect(encodeLlmo(request, options).response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', strict: true, schema: strict },
    })
  })

  it('is asked for where a vendor holds an answer to the whole schema', () => {
    expect(isStrict(strict)).toBe(true)
    const loose: Record<string, object> = {
      open: { ...item, additionalProperties: true },
      optional: { ...item, required: [] },
      list: { type: 'array', items: item },
      bounded: { ...item, properties: { a: { type: 'string', maxLength: 3 } } },
      'loose inside': { ...strict, $defs: { item: { type: 'object' } } },
      anything: { ...item, properties: { a: true } },
      choice: { ...item, anyOf: [{ type: 'object' }] },
    }
    for (const [name, schema] of Object.entries(loose)) expect(isStrict(schema), name).toBe(false)
  })

  it('is not asked for again of a vendor that refused it, and the caller hears nothing of that', async () => {
    const model = createScriptedModel([failCall('RequestRefused'), sayText('{}'), sayText('{}')])
    const client = withStructuredOutput(model)
    for (let call = 0; call < 2; call += 1) {
      const events = await listEvents(client, request)
      expect(events.map((event) => event.type)).toEqual(sayText('{}').map((event) => event.type))
    }
    expect(model.requests.map(({ outputSchema }) => outputSchema)).toEqual([strict, undefined, undefined])
  })

  it('is left out for a schema that a vendor cannot hold, and a failure of another kind is told', async () => {
    const loose = createScriptedModel([sayText('{}')])
    await listEvents(withStructuredOutput(loose), { ...request, outputSchema: { type: 'array' } })
    expect(loose.requests[0]?.outputSchema).toBeUndefined()
    const failing = createScriptedModel([failCall('ProviderFailed')])
    expect(await listEvents(withStructuredOutput(failing), request)).toMatchObject([
      { type: 'error', error: { reason: 'ProviderFailed' } },
    ])
  })
})
