// A service with a double of the code host behind github.com, and the login of somebody who may write there.
import { afterAll, beforeAll, expect } from 'vitest'
import { createCodeHosts } from '../../src/codehost/code-hosts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import { type CodeHostServer, startCodeHost } from '../fixtures/codehost/server.ts'
import { type Service, startService } from './service.ts'

export type Hosted = { codeHost: CodeHostServer; service: Service }

/** Started before the tests of a file and stopped after them; the Secret `forge` has the login. */
export function useHostedService(repository: string): Hosted {
  const hosted = {} as Hosted
  const egress = createEgress()
  beforeAll(async () => {
    hosted.codeHost = await startCodeHost({ repositories: [repository] })
    const codeHosts = createCodeHosts({
      hosts: ['github.com'],
      apiUrls: { 'github.com': hosted.codeHost.url },
      egress,
      policy: { allowNetworks: [], deny: [] },
      now: Date.now,
      pause: async () => {},
    })
    hosted.service = await startService({ codeHosts })
    const secret = { name: 'forge', stringData: { CODEHOST_TOKEN: hosted.codeHost.tokenOf('writer') } }
    expect((await hosted.service.call('POST /api/v1/secrets', { payload: secret })).statusCode).toBe(201)
  })
  afterAll(async () => {
    await hosted.service.stop()
    await egress.close()
    await hosted.codeHost.close()
  })
  return hosted
}
