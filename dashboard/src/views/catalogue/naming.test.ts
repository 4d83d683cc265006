import { expect, it } from 'vitest'
import { names } from './naming.ts'

const wanted = { name: 'main', namespace: 'default', home: 'default' }

it('finds what names an object, however deep, and nothing that only looks like it', () => {
  expect(names({ providerRef: { name: 'main' } }, /^providerRef$/, wanted)).toBe(true)
  expect(names({ model: { fallbacks: [{ providerRef: { name: 'main' } }] } }, /^providerRef$/, wanted)).toBe(true)
  expect(names({ agentRef: { name: 'main' } }, /^providerRef$/, wanted)).toBe(false)
  expect(names({ providerRef: { name: 'main', namespace: 'other' } }, /^providerRef$/, wanted)).toBe(false)
  expect(names({ tools: [{ name: 'web' }, { name: 'main' }] }, /^tools$/, wanted)).toBe(true)
})
