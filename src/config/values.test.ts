import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadConfig } from './load.ts'
import { describeSettings } from './settings.ts'
import { describeStates } from './values.ts'

it('shows each setting with its value and source, lists as they would be typed, and no secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-values-'))
  const file = join(folder, 'config.yaml')
  writeFileSync(file, 'taskTtl: 12h\n')
  const env = { HOME: folder, SVC_SEARCH_API_KEY: 'a-secret-key', SVC_PUBLIC_HOST: 'a.example,b.example' }
  const states = describeStates(loadConfig({ flags: { maxConcurrentTasks: 7 }, env, file }))
  rmSync(folder, { recursive: true })
  const find = (name: string) => {
    const { value, source, isSecret } = states.find((state) => state.name === name) ?? {}
    return [value, source, isSecret]
  }
  expect(states.map(({ name }) => name)).toEqual(describeSettings().map(({ name }) => name))
  expect(find('taskTtl')).toEqual(['12h', 'file', false])
  expect(find('maxConcurrentTasks')).toEqual(['7', 'flag', false])
  expect(find('publicHost')).toEqual(['a.example,b.example', 'environment', false])
  expect(find('searchApiKey')).toEqual(['(hidden)', 'environment', true])
  expect(find('databaseUrl')).toEqual(['', 'default', true])
  expect(JSON.stringify(states)).not.toContain('a-secret-key')
  expect(JSON.stringify(states)).not.toContain('[object')
})
