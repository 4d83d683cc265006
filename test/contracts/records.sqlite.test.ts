// The suites of all record stores over SQLite and a folder, and what only they can show: a real full disk.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { collect, MEBIBYTE, makeBody, readText, textBody } from './record-bench.ts'
import { recordSuites } from './record-suites.ts'
import { openSqliteBench } from './sqlite-bench.ts'

for (const describeRecords of recordSuites) describeRecords('SQLite', () => openSqliteBench())

/** A file system of 4 MiB, or undefined where this user may not mount one. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'svc-small-disk-'))
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch {
    rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}

const smallDisk = mountSmallDisk()

describe.skipIf(smallDisk === undefined)('a disk that is really full (skipped where tmpfs cannot be mounted)', () => {
  let bench: Awaited<ReturnType<typeof openSqliteBench>>
  beforeAll(async () => {
    bench = await openSqliteBench({ blobDir: join(smallDisk ?? '', 'data') })
  })
  afterAll(async () => {
    await bench.close()
    execFileSync('/bin/umount', [smallDisk ?? ''])
    rmSync(smallDisk ?? '', { recursive: true, force: true })
  })

  it('refuses what does not fit, keeps what was there, and recovers', async () => {
    const { results, logs } = bench.stores()
    const key = { taskUid: 'task-1', attempt: 1 }
    await results.put(key, textBody('small'), 'text/plain')
    await logs.append(key, ['before'])
    const refused = results.put(key, makeBody(6 * MEBIBYTE).body, 'text/plain')
    await expect(refused).rejects.toMatchObject({ reason: 'StorageFull' })
    const lines = Array.from({ length: 6000 }, () => 'x'.repeat(1023))
    await expect(logs.append(key, lines)).rejects.toMatchObject({ reason: 'StorageFull' })
    expect(await readText(await results.get('task-1'))).toBe('small')
    await results.put(key, makeBody(2 * MEBIBYTE).body, 'text/plain')
    await logs.append(key, ['after'])
    await bench.reopen()
    expect((await bench.stores().results.get('task-1'))?.info.size).toBe(2 * MEBIBYTE)
    const kept = await collect(bench.stores().logs.read('task-1', {}))
    expect(kept.map((line) => [line.seq, line.text])).toEqual([
      [1, 'before'],
      [2, 'after'],
    ])
  })
})
