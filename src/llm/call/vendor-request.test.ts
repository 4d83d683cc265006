import { describe, expect, it } from 'vitest'
import { memoizeByObject } from '../../lib/memoize.ts'
import type { ToolSchema } from '../messages/messages.ts'
import { writeBody } from './vendor-request.ts'

describe('the text of a body', () => {
  it('is its JSON, with tools and without', () => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }, { name: 'say "it"' }]
    for (const body of [{ model: 'm', tools, stream: true }, { tools }, { tools: [] }, { model: 'm' }, {}]) {
      expect(JSON.parse(writeBody(body))).toEqual(body)
      expect(JSON.parse(writeBody(body))).toEqual(body)
    }
  })

  it('leaves what is not a list of tools to the vendor', () => {
    expect(writeBody({ model: 'm', tools: undefined })).toBe('{"model":"m"}')
  })

  it('makes the wire form of a tool once', () => {
    let made = 0
    const encode = memoizeByObject(({ name }: ToolSchema) => ({ name, number: made++ }))
    const tool: ToolSchema = { name: 'look', description: '', parameters: {} }
    expect(encode(tool)).toBe(encode(tool))
    expect(encode({ ...tool })).toEqual({ name: 'look', number: 1 })
  })
})
