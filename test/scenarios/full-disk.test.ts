// A full disk under the running service: a clear error, nothing acknowledged is lost, and it recovers by itself.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSmallDisk, type SmallDisk, smallDiskRefusal } from '../fixtures/small-disk.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import { createTask, getTask, makeFolder, removeFolder, type Service, startService, waitForPhase } from './service.ts'

let disk: SmallDisk
let folder: string

describe.skipIf(smallDiskRefusal !== undefined)(`a full disk ${smallDiskRefusal ?? ''}`, () => {
  let service: Service
  beforeAll(async () => {
    disk = openSmallDisk(24)
    folder = makeFolder()
    service = await startService({ folder, flags: ['--data-dir', join(disk.folder, 'data')] })
  })
  afterAll(async () => {
    await service.stop()
    disk.remove()
    removeFolder(folder)
  })

  it('is answered 507 with what to do, keeps what was acknowledged, and recovers when there is room', async () => {
    await createTask(service, 'before', { type: 'container', command: ['echo', 'kept'] })
    await waitForPhase(service, 'before', 'Succeeded')
    disk.fill()
    const big = 'x'.repeat(200_000)
    const refused = await waitFor(async () => {
      const body = {
        metadata: { name: `full-${Math.random().toString(36).slice(2)}` },
        spec: { type: 'ai', prompt: big },
      }
      const answer = await service.call<{ error?: { reason: string; message: string } }>('POST', '/api/v1/tasks', body)
      return answer.status === 201 ? undefined : answer
    }, 'a write to be refused')
    expect(refused.status).toBe(507)
    expect(refused.body.error?.reason).toBe('StorageFull')
    expect(refused.body.error?.message).toMatch(/disk|space/i)
    expect((await service.call('GET', '/readyz')).status).toBe(503)
    expect((await service.call('GET', '/healthz')).status).toBe(200)
    expect((await getTask(service, 'before')).status?.phase).toBe('Succeeded')
    disk.makeRoom()
    await createTask(service, 'after', { type: 'container', command: ['echo', 'again'] })
    await waitForPhase(service, 'after', 'Succeeded')
    expect((await service.call('GET', '/readyz')).status).toBe(200)
  })

  it('starts nothing below the reserve, while the store still writes', async () => {
    // A twentieth of this disk is to be free: 1.2 MiB.
    disk.leaveFree(900_000)
    await createTask(service, 'held', { type: 'container', command: ['echo', 'late'] })
    await createTask(service, 'held-too', { type: 'container', command: ['echo', 'late'] })
    // Whole seconds: what started before has an earlier one.
    await pause(2000)
    expect((await getTask(service, 'held')).status?.startTime).toBeUndefined()
    const freedAt = Math.floor(Date.now() / 1000) * 1000
    disk.makeRoom()
    for (const name of ['held', 'held-too']) {
      const { status } = await waitForPhase(service, name, 'Succeeded')
      expect(Date.parse(status?.startTime ?? '')).toBeGreaterThanOrEqual(freedAt)
    }
  })
})
