import { describe, expect, it } from 'vitest'
import { WorkAssignment } from './assignment.ts'

const assignment = {
  version: 1,
  api: { url: 'http://127.0.0.1:8080', token: 't' },
  task: { namespace: 'default', name: 'a', uid: 'u', attempt: 1, type: 'ai' },
  loop: {
    maxIterations: 10,
    maxToolCalls: 128,
    toolTimeoutMs: 60_000,
    systemPrompt: '',
    prompt: 'hi',
    tools: ['file_read'],
  },
  model: {
    choices: [{ provider: { namespace: 'default', name: 'default', type: 'demo' }, model: 'demo' }],
  },
  customTools: [],
  egress: { allowNetworks: [], deny: ['127.0.0.1:8080'] },
  redact: [],
}

describe('work assignment', () => {
  it('survives its way through a pipe', () => {
    expect(WorkAssignment.parse(JSON.parse(JSON.stringify(assignment)))).toEqual(assignment)
  })

  it('is refused by a worker of another version', () => {
    expect(WorkAssignment.safeParse({ ...assignment, version: 2 }).success).toBe(false)
  })

  it('counts attempts from one', () => {
    const task = { ...assignment.task, attempt: 0 }
    expect(WorkAssignment.safeParse({ ...assignment, task }).success).toBe(false)
  })
})
