// What a scheduled run raises: every client that is tried, the SDKs among the project's own packages too, and nothing else of these.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'svc-raise-'))
afterEach(() => rmSync(folder, { recursive: true }))

type Manifest = { dependencies: Record<string, string>; devDependencies: Record<string, string> }
const read = (at: string, path = 'package.json') => JSON.parse(readFileSync(join(at, path), 'utf8')) as Manifest

it('raises clients and SDKs to the newest versions', () => {
  const lists = ['package.json', 'requirements.txt', 'requirements-frameworks.txt'].map(
    (file) => `test/clients/${file}`,
  )
  for (const path of ['package.json', 'scripts/raise-clients.ts', 'test/clients/oldest/package.json', ...lists])
    cpSync(join(root, path), join(folder, path))
  writeFileSync(
    join(folder, 'npm'),
    '#!/bin/sh\ncase "$*" in *--json) echo \'["999.0.0"]\';; *) echo 999.0.0;; esac\n',
    { mode: 0o755 },
  )
  writeFileSync(join(folder, 'python3'), '#!/bin/sh\necho "name (999.0.0)"\n', { mode: 0o755 })
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
  execFileSync(process.execPath, [join(folder, 'scripts', 'raise-clients.ts')], { env })

  const sdks = ['@ai-sdk/anthropic', '@ai-sdk/openai', '@anthropic-ai/sdk', 'ai', 'openai']
  const { dependencies, devDependencies } = read(folder)
  const others = Object.entries(read(root).devDependencies).filter(([name]) => !sdks.includes(name))
  expect(dependencies).toEqual(read(root).dependencies)
  expect(devDependencies).toEqual(Object.fromEntries([...others, ...sdks.map((name) => [name, '999.0.0'])]))
  for (const version of Object.values(read(folder, 'test/clients/package.json').dependencies))
    expect(version).toContain('999.0.0')
  for (const list of lists.slice(1)) expect(readFileSync(join(folder, list), 'utf8')).not.toMatch(/==(?!999\.0\.0)/)
})
