import { describe, expect, it } from 'vitest'
import { SvcError } from '../../errors.ts'
import type { TaskTranscriptQuery, TranscriptSearch } from '../../ports/chat/transcript-search.ts'
import type { ToolContext } from '../registry/tool.ts'
import { createSearchTranscript } from './search-transcript.ts'

const hit = {
  sessionName: 'talk',
  messageId: 3,
  role: 'user',
  snippet: '…the needle…',
  createdAt: '2026-01-02T03:04:05.678Z',
} as const

function makeTool(search: TranscriptSearch['search'] = async () => [hit]) {
  const asked: TaskTranscriptQuery[] = []
  const tool = createSearchTranscript({
    search: (query, signal) => {
      asked.push(query)
      return search(query, signal)
    },
  })
  const invoke = (args: Record<string, unknown>) =>
    tool.invoke(args as never, {} as ToolContext, new AbortController().signal)
  return { tool, asked, invoke }
}

describe('search_transcript', () => {
  it('needs a query alone, and has usual sizes', async () => {
    const { tool, asked, invoke } = makeTool()
    expect(tool.parameters).toMatchObject({ type: 'object', required: ['query'] })
    expect(Object.keys(tool.parameters.properties as object)).toEqual([
      'query',
      'session_name',
      'exclude_session_name',
      'roles',
      'limit',
      'max_snippet_length',
    ])
    expect(await invoke({ query: 'needle' })).toEqual({ success: true, matches: [hit] })
    expect(asked).toEqual([{ query: 'needle', limit: 10, maxSnippetLength: 360 }])
  })

  it('passes everything on', async () => {
    const { asked, invoke } = makeTool()
    const args = { session_name: 'a', exclude_session_name: 'b', roles: ['tool'], limit: 50, max_snippet_length: 1000 }
    await invoke({ query: '"two words" more', ...args })
    expect(asked).toEqual([
      {
        query: '"two words" more',
        sessionName: 'a',
        excludeSessionName: 'b',
        roles: ['tool'],
        limit: 50,
        maxSnippetLength: 1000,
      },
    ])
  })

  it('refuses what it cannot search for, and says what is wrong', async () => {
    const { asked, invoke } = makeTool()
    for (const wrong of [{}, { query: ' ' }, { query: 'x', limit: 51 }, { query: 'x', roles: ['nobody'] }]) {
      expect(await invoke(wrong)).toMatchObject({ success: false, errorType: 'invalid_arguments' })
    }
    expect(asked).toEqual([])
  })

  it('explains why a search failed', async () => {
    const { invoke } = makeTool(async () => {
      throw new SvcError('Unavailable', 'the store cannot be reached')
    })
    const outcome = await invoke({ query: 'needle' })
    expect(outcome).toMatchObject({ success: false })
    expect(JSON.stringify(outcome)).toContain('the store cannot be reached')
  })
})
