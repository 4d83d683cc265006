// What the built-in tools cost a request that they are added to.
import { describe, expect, it } from 'vitest'
import { countTextTokens } from '../../llm/messages/token-usage.ts'
import { builtinTools } from './registry.ts'
import { showTool } from './tool.ts'

describe('the definitions of the built-in tools', () => {
  const shown = builtinTools
    .map(showTool)
    .map(({ name, description, parameters }) => ({ name, description, parameters }))

  it('are five, and take fewer than 500 tokens together in the form of either family', () => {
    expect(shown).toHaveLength(5)
    const llma = shown.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters }))
    const llmo = shown.map((tool) => ({ type: 'function', function: tool }))
    for (const sent of [llma, llmo]) expect(countTextTokens(JSON.stringify(sent))).toBeLessThan(500)
  })

  it('say of every parameter of which type it is, and which are needed', () => {
    for (const { parameters } of shown) {
      const { properties, required } = parameters as {
        properties: Record<string, { type?: string }>
        required: string[]
      }
      for (const parameter of Object.values(properties)) expect(parameter.type).toEqual(expect.any(String))
      expect(required.length).toBeGreaterThan(0)
    }
  })
})
