// A service that is told to stop before it serves.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { environmentOf, makeFolder, removeFolder, root, startService } from '../../scenarios/service.ts'

describe('a service that is still starting', () => {
  let folder: string
  let silent: Server
  let service: ChildProcess | undefined

  beforeEach(async () => {
    folder = makeFolder()
    // An API server that takes connections and never answers.
    silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
  })
  afterEach(() => {
    service?.kill('SIGKILL')
    silent.close()
    removeFolder(folder)
  })

  function start(): ChildProcess {
    const kubeconfig = join(folder, 'kubeconfig')
    const { port } = silent.address() as AddressInfo
    const named = [
      {
        name: 'it',
        cluster: { server: `https://127.0.0.1:${port}` },
        user: {},
        context: { cluster: 'it', user: 'it' },
      },
    ]
    const config = { apiVersion: 'v1', kind: 'Config', clusters: named, users: named, contexts: named }
    writeFileSync(kubeconfig, JSON.stringify({ ...config, 'current-context': 'it' }))
    const flags = ['--mode', 'kubernetes', '--kubeconfig', kubeconfig, '--operator-namespace', 'svc-system']
    const program = [join(root, 'src/server.ts'), ...flags, '--worker-image', 'none', '--port', '0']
    service = spawn(process.execPath, program, { env: environmentOf(folder), stdio: 'ignore' })
    return service
  }

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'ends at once on %s by itself, since the first process of a container has no default handler',
    async (signal, code) => {
      const child = start()
      const ended = once(child, 'exit')
      await once(silent, 'connection')
      child.kill(signal)
      expect(await ended).toEqual([code, null])
    },
  )
})

describe('a service that has started', () => {
  it('has not loaded modules it does not need yet: schema compilers, tracing, HTTP clients', async () => {
    const folder = makeFolder()
    const hook = join(folder, 'loaded.mjs')
    writeFileSync(hook, listLoaded)
    const env = { NODE_OPTIONS: `--import=${hook}` }
    const service = await startService({ folder, env, program: join(root, 'bin', 'svc') })
    try {
      await service.stop()
      const names = (/^loaded: (.*)$/m.exec(service.output())?.[1] ?? '').split(' ')
      expect(names).toContain('fastify')
      expect(
        names.filter((name) => /^ajv|opentelemetry|^@kubernetes|^pg$|^dockerode$|^undici$|^its-undici$/.test(name)),
      ).toEqual([])
    } finally {
      removeFolder(folder)
    }
  })
})

/** Says at the end of which packages files were loaded. */
const listLoaded = `
import { registerHooks } from 'node:module'
const names = new Set()
registerHooks({
  load(url, context, next) {
    names.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1])
    return next(url, context)
  },
})
process.on('exit', () => {
  const own = process.moduleLoadList.filter((name) => name.includes('undici')).map((name) => 'its-' + name.split('/').at(-1))
  console.error('loaded: ' + [...names, ...own].join(' '))
})
`
