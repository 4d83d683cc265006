// The machine's abstract Unix sockets, from behind every door that starts somebody's program with the machine's network.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { probeBubblewrap } from '../../src/runtime/local/confinement/bubblewrap.ts'
import { findSocketScope } from '../../src/runtime/local/confinement/socket-scope.ts'
import { usersWhoMayRead } from '../fixtures/users.ts'

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

describe.skipIf(!probe.available || !findSocketScope().available)('abstract sockets of the machine', () => {
  it.each(usersWhoMayRead(fixture))(
    'are out of reach of commands, agents, workspaces and workers of user %i',
    async (uid) => {
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
    },
  )
})
