import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { plainJob as job } from '../../../test/fixtures/agents/job.ts'
import { layTraps } from '../../../test/fixtures/agents/traps.ts'
import { acpRuntime } from './client.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-acp-'))
afterAll(() => rmSync(folder, { recursive: true }))

const { prepare } = acpRuntime(['opencode', 'acp'])

/** Of a home, not of a repository; and what is read as text, and starts nothing. */
const harmless = /^(\.config\/|AGENTS\.md|CLAUDE\.md|\.github\/copilot-instructions\.md)/

describe('a program of which no more is known than its command', () => {
  it('is not run where anything lies that a known one would start or follow', () => {
    layTraps({ work: join(folder, 'work') }, join(folder, 'traces'))
    const laid = readdirSync(join(folder, 'work'), { recursive: true, encoding: 'utf8' })
      .filter((path) => statSync(join(folder, 'work', path)).isFile())
      .filter((path) => !harmless.test(path))
    const refused = prepare(job).refusedNames ?? []
    expect(laid.length).toBeGreaterThan(10)
    expect(laid.filter((path) => !refused.some((name) => path === name || path.startsWith(`${name}/`)))).toEqual([])
  })

  it('is run wherever its agent trusts the repository', () => {
    expect(prepare({ ...job, trustsFolder: true }).refusedNames).toBeUndefined()
  })
})
