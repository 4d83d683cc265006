import { afterEach, expect, it, vi } from 'vitest'
import { editText } from './editor.ts'

const terminal = process.stdin.isTTY
afterEach(() => {
  vi.unstubAllEnvs()
  process.stdin.isTTY = terminal
})

it('does not start an editor of the screen where there is none, which would wait for ever', async () => {
  process.stdin.isTTY = false
  vi.stubEnv('VISUAL', undefined)
  vi.stubEnv('EDITOR', 'vi')
  await expect(editText('text', 'a.yaml')).rejects.toMatchObject({
    reason: 'InvalidRequest',
    message: 'there is no terminal for vi; EDITOR names an editor that needs none',
  })
  vi.stubEnv('EDITOR', 'true')
  expect(await editText('text', 'a.yaml')).toBe('text')
})
