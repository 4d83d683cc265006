import { describe, expect, it } from 'vitest'
import { plainJob as job } from '../../../test/fixtures/agents/job.ts'
import { createAcpReader } from './client.ts'
import { chooseOption, findObstacle, needsApproval } from './protocol.ts'

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

  it.each([
    [undefined, edit, false],
    [[], edit, false],
    [['execute'], edit, false],
    [['edit'], edit, true],
    [['write_file'], edit, true],
    [['other'], { ...edit, kind: null }, true],
  ])('is put to a person where the agent names %j, for %j', (approvalRequiredTools, call, expected) => {
    const asking = { ...job, ...(approvalRequiredTools && { approvalRequiredTools }) }
    expect(needsApproval(asking, call)).toBe(expected)
  })

  const options = [
    { kind: 'allow_once', optionId: 'yes' },
    { kind: 'reject_once', optionId: 'no' },
  ]
  /** What is told of a call, and then the request, as two lines. */
  function readRequest(rules: Partial<typeof job>, call: object) {
    const reader = createAcpReader({ ...job, ...rules })
    const update = { sessionUpdate: 'tool_call', toolCallId: '1', status: 'pending', ...call }
    const send = (message: object) => reader.read(JSON.stringify({ jsonrpc: '2.0', ...message }))
    send({ id: 0, result: {} })
    send({ id: 1, result: { sessionId: 's' } })
    send({ method: 'session/update', params: { sessionId: 's', update } })
    const params = { sessionId: 's', toolCall: { toolCallId: '1' }, options }
    return send({ id: 7, method: 'session/request_permission', params })
  }
  const toolCall = { title: 'write_file', kind: 'edit', rawInput: { path: 'a', content: 'b' } }

  it('is put to a person as the program reported it, and answered with the option of this call', () => {
    const { question, reply } = readRequest({ approvalRequiredTools: ['edit'] }, toolCall)
    expect(reply).toBeUndefined()
    expect(question).toMatchObject({ tool: 'write_file', call: toolCall })
    expect(JSON.parse(question?.settle().reply ?? '')).toMatchObject({
      id: 7,
      result: { outcome: { optionId: 'yes' } },
    })
    const declined = question?.settle('not today')
    expect(JSON.parse(declined?.reply ?? '')).toMatchObject({ id: 7, result: { outcome: { optionId: 'no' } } })
    expect(declined?.events).toEqual([{ type: 'refused', tool: 'write_file', message: 'not today' }])
  })

  it.each([
    [{ disallowedTools: ['edit'] }, toolCall],
    [{ allowedTools: ['read'] }, toolCall],
    [{}, { ...toolCall, kind: 'execute' }],
    [{}, { ...toolCall, locations: [{ path: '/etc/passwd' }] }],
  ])('is refused without a question by the rules %j for %j', (rules, call) => {
    const { question, reply } = readRequest({ approvalRequiredTools: ['edit', 'execute'], ...rules }, call)
    expect(question).toBeUndefined()
    expect(JSON.parse(reply ?? '')).toMatchObject({ result: { outcome: { optionId: 'no' } } })
  })

  it('is allowed for this call alone, where that is offered', () => {
    const options = ['allow_always', 'allow_once', 'reject_always'].map((kind) => ({ kind, optionId: kind }))
    const request = { toolCall: edit, options }
    expect(chooseOption(request, true)).toEqual({ outcome: 'selected', optionId: 'allow_once' })
    expect(chooseOption(request, false)).toEqual({ outcome: 'selected', optionId: 'reject_always' })
    expect(chooseOption({ ...request, options: [] }, true)).toEqual({ outcome: 'cancelled' })
  })
})
