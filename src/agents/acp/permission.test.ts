import { describe, expect, it } from 'vitest'
import type { AgentJob } from '../runtime.ts'
import { chooseOption, findObstacle } from './permission.ts'

const job: AgentJob = {
  prompt: 'hello',
  model: 'main/test-model',
  maxTurns: 5,
  allowBash: false,
  trustsFolder: false,
  workFolder: '/workspace',
  readFolders: [],
  home: '/home/agent',
  proxy: { url: 'http://127.0.0.1:1', token: 'made-up' },
}
const edit = { toolCallId: '1', kind: 'edit', title: 'write_file', locations: [{ path: '/workspace/a' }] }

describe('what an agent asks a person for', () => {
  it.each([
    [{}, edit, undefined],
    [{}, { ...edit, locations: [{ path: 'a/b' }] }, undefined],
    [{}, { ...edit, locations: [{ path: '/workspace/../etc/passwd' }] }, 'outside of the workspace'],
    [{}, { ...edit, locations: [{ path: '/workspace-2/a' }] }, 'outside of the workspace'],
    [{}, { ...edit, kind: 'read', locations: [{ path: '/home/agent/skills/x/SKILL.md' }] }, undefined],
    [{}, { ...edit, kind: 'execute' }, 'no shell commands'],
    [{ allowBash: true }, { ...edit, kind: 'execute' }, undefined],
    [{ allowedTools: ['read'] }, edit, 'other tools only'],
    [{ allowedTools: ['edit'] }, edit, undefined],
    [{ allowedTools: ['write_file'] }, edit, undefined],
    [{ allowedTools: ['edit'], disallowedTools: ['write_file'] }, edit, 'does not allow this tool'],
    [{ disallowedTools: ['edit'] }, edit, 'does not allow this tool'],
  ])('is answered by the rules %j for %j', (rules, call, words) => {
    const obstacle = findObstacle({ ...job, ...rules }, call)
    if (words === undefined) expect(obstacle).toBeUndefined()
    else expect(obstacle).toContain(words)
  })

  it('is allowed for this call alone, where that is offered', () => {
    const options = ['allow_always', 'allow_once', 'reject_always'].map((kind) => ({ kind, optionId: kind }))
    const request = { toolCall: edit, options }
    expect(chooseOption(request, true)).toEqual({ outcome: 'selected', optionId: 'allow_once' })
    expect(chooseOption(request, false)).toEqual({ outcome: 'selected', optionId: 'reject_always' })
    expect(chooseOption({ ...request, options: [] }, true)).toEqual({ outcome: 'cancelled' })
  })
})
