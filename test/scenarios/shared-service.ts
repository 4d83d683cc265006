// One service for all files of a test worker that start it with the same flags and leave it running. A file has a namespace of
// its own, and a token that is valid there alone, so what it makes and lists without naming a namespace is its own.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll } from 'vitest'
import { callAt, environmentOf, removeFolder, type Service, startService } from './service.ts'

/** What a file has of it: not its process, its output or its end. */
export type SharedService = Pick<Service, 'url' | 'token' | 'folder' | 'env' | 'call'>

let started: Promise<Service> | undefined

async function start(): Promise<Service> {
  const service = await startService({ flags: ['--allow-network', '127.0.0.0/8'] })
  process.once('exit', () => removeFolder(service.folder))
  // A worker is ended by this signal; the service ends with it, as every program that a test starts.
  process.once('SIGTERM', () => process.exit())
  return service
}

/** The namespace is named after the file. The folder is for files of the tests. */
async function enter(service: Service, namespace: string): Promise<SharedService> {
  const made = await service.call<{ token: string }>('POST', '/api/v1/tokens', {
    name: namespace,
    role: 'editor',
    namespace,
  })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const { token } = made.body
  const folder = join(service.folder, 'shared', namespace)
  mkdirSync(folder, { recursive: true })
  const env = { ...environmentOf(folder), SVC_SERVER: service.url, SVC_TOKEN: token }
  return {
    url: service.url,
    token,
    folder,
    env,
    call: (method, path, body) => callAt({ url: service.url, token }, method, path, body),
  }
}

export function useSharedService(namespace: string): { readonly service: SharedService } {
  let entered: SharedService | undefined
  beforeAll(async () => {
    started ??= start()
    entered = await enter(await started, namespace)
  })
  return {
    get service() {
      if (entered === undefined) throw new Error('the service has not been started')
      return entered
    },
  }
}
