// The machine's abstract Unix sockets, from behind every door that starts somebody's program with the machine's network.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findSocketScope } from '../../src/runtime/local/confinement/socket-scope.ts'

const run = promisify(execFile)
const probe = await probeBubblewrap()
const fixture = join(import.meta.dirname, '../fixtures/socket-doors.ts')
const name = `svc-test-${process.pid}`
let peers = 0
const server = createServer((socket) => {
  peers += 1
  socket.end()
}).listen(`\0${name}`)
await once(server, 'listening')
afterAll(() => server.close())

/** Whether everybody may go there: a checkout in somebody's home is not for other users. */
function isOpen(path: string): boolean {
  const folder = dirname(path)
  return (statSync(path).mode & 0o1) !== 0 && (folder === path || isOpen(folder))
}

const isForAll = [fixture, process.execPath].every((path) => isOpen(dirname(realpathSync(path))))
const self = process.getuid?.() ?? 0
/** What no account of this machine is for. */
const plainUser = 64_322
const users = self === 0 && isForAll ? [self, plainUser] : [self]

describe.skipIf(!probe.available || !findSocketScope().available)('abstract sockets of the machine', () => {
  it.each(users)('are out of reach of commands, agents, workspaces and workers of user %i', async (uid) => {
    const { stdout } = await run(process.execPath, [fixture, name], { uid, gid: uid, cwd: '/', env: { HOME: '/' } })
    expect(JSON.parse(stdout)).toEqual({
      command: 'EPERM',
      'command without a sandbox': 'EPERM',
      worker: 'EPERM',
      'worker without a sandbox': 'EPERM',
      'program of an agent': 'EPERM',
      'execution workspace': 'EPERM',
    })
    expect(peers).toBe(0)
  })
})
