// Faults of the machine under the running service: its log cannot be written, its database goes away, descriptors run out.
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { failingDiskRefusal, openFailingDisk } from '../fixtures/failing-disk.ts'
import { openSmallDisk, smallDiskRefusal } from '../fixtures/small-disk.ts'
import { waitFor } from '../fixtures/time.ts'
import { createTask, makeFolder, removeFolder, type Service, startService, waitForPhase } from './service.ts'

let folder: string
let service: Service | undefined
beforeEach(() => {
  folder = makeFolder()
})
afterEach(async () => {
  await service?.stop()
  service = undefined
  removeFolder(folder)
})

/** Node behind a line of the shell. */
function makeRuntime(line: string, redirection = ''): string {
  const path = join(folder, 'runtime')
  writeFileSync(path, `#!/bin/sh\n${line}\nexec ${process.execPath} "$@" ${redirection}\n`)
  chmodSync(path, 0o755)
  return path
}

const echo = (text: string) => ({ type: 'container', command: ['echo', text] })

describe.skipIf(smallDiskRefusal !== undefined)(`a log on a full disk ${smallDiskRefusal ?? ''}`, () => {
  it('ends nothing, and goes on when there is room', async () => {
    const disk = openSmallDisk(1)
    try {
      const runtime = makeRuntime('true', `2>>${join(disk.folder, 'log')}`)
      service = await startService({ folder, runtime, flags: ['--log-level', 'debug'] })
      disk.fill()
      for (let count = 0; count < 200; count += 1) await service.call('GET', '/api/v1/tasks')
      expect((await service.call('GET', '/healthz')).status).toBe(200)
      disk.makeRoom()
      await createTask(service, 'after', echo('again'))
      await waitForPhase(service, 'after', 'Succeeded')
    } finally {
      await service?.stop()
      service = undefined
      disk.remove()
    }
  })
})

describe('a database that goes away', () => {
  it('is seen at once, and used again when it is back', async () => {
    const running = await startService({ folder })
    service = running
    const file = join(folder, 'share', 'svc', 'svc.db')
    renameSync(file, `${file}.away`)
    expect((await running.call('GET', '/readyz')).status).toBe(503)
    const body = { metadata: { name: 'lost' }, spec: echo('lost') }
    const refused = await running.call<{ error: { message: string } }>('POST', '/api/v1/tasks', body)
    expect(refused.status).toBe(503)
    expect(refused.body.error.message).toContain('was removed or replaced')
    rmSync(file, { force: true })
    renameSync(`${file}.away`, file)
    await waitFor(async () => (await running.call('GET', '/readyz')).status === 200, 'the service to be ready again')
    await createTask(running, 'after', echo('again'))
    await waitForPhase(running, 'after', 'Succeeded')
  })
})

describe.skipIf(failingDiskRefusal !== undefined)(`a disk that becomes read-only ${failingDiskRefusal ?? ''}`, () => {
  it('is seen at once: nothing is acknowledged that is not kept, and what is there is still served', async () => {
    const disk = openFailingDisk()
    try {
      const running = await startService({ folder, env: { XDG_DATA_HOME: disk.folder } })
      service = running
      await createTask(running, 'before', echo('kept'))
      await waitForPhase(running, 'before', 'Succeeded')
      disk.fail()
      const refused = await running.call<{ error: { message: string } }>('POST', '/api/v1/tasks', {
        metadata: { name: 'lost' },
        spec: echo('lost'),
      })
      expect([refused.status, refused.body.error.message]).toEqual([503, expect.stringMatching(/read-only/)])
      expect((await running.call('GET', '/readyz')).status).toBe(503)
      expect((await running.call('GET', '/api/v1/tasks/before')).status).toBe(200)
      expect((await running.call('GET', '/api/v1/tasks/lost')).status).toBe(404)
      expect((await running.call('GET', '/healthz')).status).toBe(200)
    } finally {
      await service?.stop()
      service = undefined
      disk.remove()
    }
  })
})

describe.skipIf(process.platform !== 'linux')('few descriptors', () => {
  it('hold new work back, and fail none', async () => {
    const runtime = makeRuntime('ulimit -n 256')
    const running = await startService({ folder, runtime, flags: ['--max-concurrent-tasks', '60'] })
    service = running
    const names = Array.from({ length: 40 }, (_, index) => `few-${index}`)
    await Promise.all(names.map((name) => createTask(running, name, { type: 'container', command: ['sleep', '1'] })))
    for (const name of names) await waitForPhase(running, name, 'Succeeded')
  }, 180_000)
})

describe('the signal that opens a debugger', () => {
  it('opens none, through which agents on the same machine would read all memory', async () => {
    const running = await startService({ folder })
    service = running
    for (let count = 0; count < 20; count += 1) {
      running.process.kill('SIGUSR1')
      expect((await running.call('GET', '/healthz')).status).toBe(200)
    }
    expect(running.output()).not.toContain('Debugger')
  })
})
