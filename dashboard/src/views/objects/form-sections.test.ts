import { expect, it } from 'vitest'
import { AgentSpec } from '../../../../src/contract/kinds/agents/agent.ts'
import { problemsIn, sectionsOf } from './form-sections.ts'

const fields = Object.keys(AgentSpec.shape)
const sections = sectionsOf('agents', fields) ?? []

it('has each field of an agent in one section', () => {
  expect(sections.flatMap((section) => section.fields).toSorted()).toEqual(fields.toSorted())
  expect(sections.at(-1)?.fields).toContain('coordination')
  expect(sectionsOf('tools', ['http'])).toBeUndefined()
})

it('has each problem in the section of its field, and what is wrong with the whole in the first', () => {
  const paths = ['metadata.name', 'spec', 'spec.model.fallbacks[0].name', 'spec.tools[1].name', 'spec.session.ttl']
  const problems = paths.map((path) => ({ path, message: 'is wrong' }))
  const found = sections.map((section) => [section.title, problemsIn(section, problems).map(({ path }) => path)])
  expect(Object.fromEntries(found)).toEqual({
    General: ['metadata.name', 'spec'],
    Model: ['spec.model.fallbacks[0].name'],
    'Tools and skills': ['spec.tools[1].name'],
    Network: [],
    Limits: [],
    Advanced: ['spec.session.ttl'],
  })
})
