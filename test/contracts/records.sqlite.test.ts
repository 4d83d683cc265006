// The suites of all record stores over SQLite and a folder, and what only they can show: a real full disk.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSmallDisk, type SmallDisk, smallDiskRefusal } from '../fixtures/small-disk.ts'
import { collect, MEBIBYTE, makeBody, readText, textBody } from './record-bench.ts'
import { recordSuites } from './record-suites.ts'
import { openSqliteBench } from './sqlite-bench.ts'

for (const describeRecords of recordSuites) describeRecords('SQLite', () => openSqliteBench())

describe.skipIf(smallDiskRefusal !== undefined)(`a disk that is really full ${smallDiskRefusal ?? ''}`, () => {
  let disk: SmallDisk
  let bench: Awaited<ReturnType<typeof openSqliteBench>>
  beforeAll(async () => {
    disk = openSmallDisk(4)
    bench = await openSqliteBench({ blobDir: join(disk.folder, 'data') })
  })
  afterAll(async () => {
    await bench.close()
    disk.remove()
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
