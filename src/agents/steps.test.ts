import { describe, expect, it } from 'vitest'
import type { AgentReader } from './agent-runtime.ts'
import { createCodehostCliReader } from './codehost-cli.ts'
import { createLlmaCliReader } from './llma-cli.ts'
import { createLlmoCliReader } from './llmo-cli.ts'
import { createOpencodeReader } from './opencode.ts'

const read = (reader: AgentReader, ...lines: object[]) =>
  lines.flatMap((line) => reader.read(JSON.stringify(line)).events)

const editOfLlma = { type: 'tool_use', id: '1', name: 'Edit', input: { file_path: '/w/a', old_string: 'b' } }
const editOfOpencode = { tool: 'write', callID: '1', state: { status: 'completed', input: { filePath: '/w/a' } } }

describe('what agent programs say', () => {
  it.each([
    ['llma-cli', createLlmaCliReader(), { type: 'assistant', message: { id: 'm', content: [editOfLlma] } }],
    [
      'llmo-cli',
      createLlmoCliReader(),
      { type: 'item.completed', item: { id: '1', type: 'file_change', changes: [{ path: '/w/a', kind: 'update' }] } },
    ],
    [
      'codehost-cli',
      createCodehostCliReader(),
      {
        type: 'tool.execution_start',
        data: { toolCallId: '1', toolName: 'create', arguments: { path: '/w/a', file_text: 'b' } },
      },
    ],
    ['opencode', createOpencodeReader(), { type: 'tool_use', sessionID: 's', part: editOfOpencode }],
  ])('of files that they edit is understood: %s', (_name, reader, line) => {
    expect(read(reader, line).find(({ type }) => type === 'tool_started')).toMatchObject({ id: '1', edits: ['/w/a'] })
  })

  it('of tools that edit nothing names no file', () => {
    const content = [{ type: 'tool_use', id: '1', name: 'Read', input: { file_path: '/w/a' } }]
    const [, started] = read(createLlmaCliReader(), { type: 'assistant', message: { id: 'm', content } })
    expect(started).toEqual({ type: 'tool_started', id: '1', name: 'Read', input: { file_path: '/w/a' } })
    const odd = [{ type: 'tool_use', id: '1', name: 'Edit', input: null }]
    expect(read(createLlmaCliReader(), { type: 'assistant', message: { id: 'm', content: odd } })).toHaveLength(2)
  })

  it('of a model that is asked again is understood', () => {
    const retry = { type: 'system', subtype: 'api_retry', attempt: 2, max_retries: 10, error: 'overloaded' }
    expect(read(createLlmaCliReader(), retry)).toEqual([{ type: 'retried', message: 'overloaded; try 2 of 10' }])
    const message = 'Reconnecting... 1/5'
    expect(read(createLlmoCliReader(), { type: 'error', message })).toEqual([{ type: 'retried', message }])
    expect(read(createLlmoCliReader(), { type: 'error', message: 'bad request' })).toEqual([])
  })
})
