import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { plainPrograms as programs } from '../../../test/fixtures/agents/plain-programs.ts'
import { askVersion } from './program-version.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-asked-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function ask(script: string, deadlineMs?: number) {
  const file = join(folder, 'program')
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return askVersion({ argv: [file], path: '/usr/bin:/bin' }, { programs, ...(deadlineMs && { deadlineMs }) })
}

describe('the version of a program', () => {
  it('is what it says, with a home of its own and nothing to read', async () => {
    expect(await ask('cat; [ "$HOME" = "$PWD" ] && echo "it 1.2.3"; touch left')).toEqual({ version: '1.2.3' })
  })

  it('is not waited for without an end, whatever the program does about it', async () => {
    const hangs = await ask('trap "" TERM; sleep 1000 & while :; do sleep 1; done', 300)
    expect(hangs).toEqual({ problem: 'does not answer to --version within 0.3 s' })
  })

  it('does not wait for what the program leaves behind', async () => {
    expect(await ask('sleep 1000 & echo 1.2.3')).toEqual({ version: '1.2.3' })
  })

  it('is not that of a program that is gone', async () => {
    const gone = await askVersion({ argv: [join(folder, 'gone')], path: '' }, { programs })
    expect(gone).toEqual({ problem: expect.stringMatching(/^does not start: .*ENOENT/) })
  })
})
