import { describe, expect, it } from 'vitest'
import { llmaCliSession } from './llma-cli.ts'

const line = (entry: object) => JSON.stringify(entry)
const message = (uuid: string, parentUuid: string | null, type: 'user' | 'assistant') => ({
  uuid,
  parentUuid,
  type,
  message: { role: type, content: uuid },
})

function writeSession(lines: string[]): Record<string, unknown>[] {
  const files = llmaCliSession.restore({ id: 'one', text: lines.join('\n') }, '/work/my.folder')
  expect(Object.keys(files)).toEqual(['.claude/projects/-work-my-folder/one.jsonl'])
  const texts = Object.values(files).flatMap((text) => text.trimEnd().split('\n'))
  return texts.filter((text) => text !== '').map((text) => JSON.parse(text) as Record<string, unknown>)
}

describe('a session of Claude Code', () => {
  it('is laid with what was said, as one chain, and without the tools that were offered', () => {
    const written = writeSession([
      line({ type: 'queue-operation', operation: 'enqueue', sessionId: 'other' }),
      line({
        ...message('a', null, 'user'),
        permissionMode: 'bypassPermissions',
        cwd: '/elsewhere',
        sessionId: 'other',
      }),
      line({
        uuid: 'b',
        parentUuid: 'a',
        type: 'attachment',
        attachment: { type: 'prompt_snapshot', tools: ['Bash'] },
      }),
      line({ uuid: 'c', parentUuid: 'b', type: 'system', subtype: 'init' }),
      line({ ...message('d', 'c', 'assistant'), attachment: { type: 'prompt_snapshot' }, requestRef: 'r' }),
      line({ ...message('e', 'd', 'assistant'), isSidechain: true }),
      line(message('f', 'e', 'user')),
    ])
    const session = { sessionId: 'one', cwd: '/work/my.folder' }
    expect(written).toEqual([
      { ...message('a', null, 'user'), ...session },
      { ...message('d', 'a', 'assistant'), ...session },
      { ...message('f', 'd', 'user'), ...session },
    ])
  })

  it('is laid without lines that are no entries', () => {
    expect(
      writeSession(['', 'half a li', '[]', line({ type: 'user' }), line(message('a', 'never seen', 'user'))]),
    ).toMatchObject([{ uuid: 'a', parentUuid: null }])
    expect(writeSession([])).toEqual([])
  })
})
