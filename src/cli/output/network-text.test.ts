import { expect, it } from 'vitest'
import { describeNetwork } from './network-text.ts'

it.each([
  [undefined, 'none, it runs no programs'],
  [{ allow: ['open'], onUnknown: 'refuse', from: 'service' }, 'open, that of the machine or pod (the service says so)'],
  [
    { allow: ['packages', 'a.example'], onUnknown: 'ask', from: 'agent' },
    'packages, a.example; a person is asked about other hosts (its agent says so)',
  ],
  [
    { allow: ['packages'], onUnknown: 'refuse', from: 'task', within: ['pypi.org'] },
    'packages; other hosts are refused; of these only pypi.org, by its context (the task itself says so)',
  ],
  [
    { allow: [], onUnknown: 'allow', from: 'namespace', within: [] },
    'none; other hosts are allowed, and counted; of these only none, by its context (its namespace says so)',
  ],
] as const)('describes %j', (network, text) => {
  const copy = network && {
    ...network,
    allow: [...network.allow],
    ...('within' in network && { within: [...network.within] }),
  }
  expect(describeNetwork({ network: copy as never })).toBe(text)
})
