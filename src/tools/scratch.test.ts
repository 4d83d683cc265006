import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createManualClock } from '../../test/fixtures/llm/manual-clock.ts'
import { createScratchFolders } from './scratch.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-scratch-test-'))
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('scratch folders', () => {
  it('are one for each conversation of each caller, and private [BUILT-027]', async () => {
    const scratch = createScratchFolders({ root, clock: createManualClock() })
    const folder = await scratch.open(['default', 'ann', 's1'])
    writeFileSync(join(folder, 'kept'), 'x')
    expect(await scratch.open(['default', 'ann', 's1'])).toBe(folder)
    expect(existsSync(join(folder, 'kept'))).toBe(true)
    const others = await Promise.all([scratch.open(['default', 'ann', 's2']), scratch.open(['default', 'bob', 's1'])])
    expect(new Set([folder, ...others]).size).toBe(3)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  it('go when nobody has opened them for an hour', async () => {
    const clock = createManualClock()
    const scratch = createScratchFolders({ root, clock })
    const old = await scratch.open(['a'])
    await clock.advance(3_000_000)
    const used = await scratch.open(['b'])
    await clock.advance(1_000_000)
    await scratch.open(['c'])
    expect([existsSync(old), existsSync(used)]).toEqual([false, true])
  })
})
