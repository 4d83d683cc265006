import { describe, expect, it } from 'vitest'
import { llmoCli } from './command.ts'

const job = {
  prompt: 'hello',
  model: 'main/test-model',
  maxTurns: 5,
  allowBash: true,
  trustsFolder: false,
  workFolder: '/workspace',
  readFolders: [],
  home: '/home/agent',
  proxy: { url: 'http://127.0.0.1:1', token: 'made-up' },
}

describe('a rule that Codex cannot keep', () => {
  it.each([
    [{ allowBash: false }, 'without its shell'],
    [{ allowedTools: ['view_image'] }, 'cannot be limited'],
    [{ disallowedTools: ['view_image'] }, 'cannot be limited'],
  ])('is refused: %j', (rules, words) => {
    expect(() => llmoCli.prepare({ ...job, ...rules })).toThrow(words)
  })
})
