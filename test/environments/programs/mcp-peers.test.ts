// MCP beside what others made: the conformance suite of the protocol, and an authorization server that is no part of it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Tool } from '../../../src/contract/kinds/tools/tool.ts'
import {
  type Received,
  type ScriptedServer,
  startScriptedServer,
  writeJson,
} from '../../fixtures/mcp/scripted-server.ts'
import { waitFor } from '../../fixtures/time.ts'
import { makeFolder, removeFolder, runProgram, type Service, startService } from '../../scenarios/service.ts'

const clients = join(import.meta.dirname, '..', '..', 'clients')

/** Where the run is a report's, what is missing is a failure. */
function describePeer(name: string, title: string, body: () => void): void {
  const isMissing = !existsSync(join(clients, 'node_modules', name))
  const told = isMissing ? `${title} (sh scripts/install-clients.sh installs it)` : title
  describe.skipIf(isMissing && process.env.SVC_TEST_REPORT === undefined)(told, body)
}

describePeer('@modelcontextprotocol/conformance', 'the conformance suite of the protocol', () => {
  const suite = join(clients, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
  const folder = mkdtempSync(join(tmpdir(), 'svc-mcp-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  type Check = { id: string; status: string; errorMessage?: string }

  async function run(scenario: string): Promise<Check[]> {
    const place = mkdtempSync(join(folder, 'run-'))
    const client = join(import.meta.dirname, '..', '..', 'fixtures', 'mcp', 'conformance-client.ts')
    const command = `${process.execPath} ${client}`
    const args = [suite, 'client', '--scenario', scenario, '--command', command, '-o', place, '--timeout', '120000']
    const { stdout, stderr } = await runProgram(process.execPath, args, { env: { PATH: process.env.PATH } })
    const found = readdirSync(place, { recursive: true, encoding: 'utf8' }).find((path) => path.endsWith('checks.json'))
    if (found === undefined) throw new Error(stdout + stderr)
    expect(stderr).not.toContain('Client exited with code')
    return JSON.parse(readFileSync(join(place, found), 'utf8'))
  }

  it.each<[string, string[]]>([
    ['initialize', ['mcp-client-initialization']],
    ['tools_call', ['tool-add-numbers']],
    ['sse-retry', ['client-sse-graceful-reconnect', 'client-sse-last-event-id']],
    ['auth/client-credentials-basic', ['client-credentials-basic-auth', 'valid-bearer-token']],
  ])('is content with %s', async (scenario, proofs) => {
    const checks = await run(scenario)
    // How late a client takes a stream up again is a matter of the machine.
    const failed = checks.filter(({ id, status }) => status === 'FAILURE' && id !== 'client-sse-retry-timing')
    expect(failed).toEqual([])
    const passed = new Set(checks.filter(({ status }) => status === 'SUCCESS').map(({ id }) => id))
    expect([...passed]).toEqual(expect.arrayContaining(proofs))
  })
})

describePeer('oidc-provider', 'an MCP server whose tokens another server issues', () => {
  const folder = makeFolder()
  const clientSecret = 'secret-of-the-client-0123456789'
  const search = { model: 'demo/demo', max_tokens: 500, messages: [{ role: 'user', content: 'call docs__search {}' }] }
  let issuer: string
  let stopIssuer: () => Promise<void>
  let service: Service
  let docs: ScriptedServer
  /** Tokens that the server accepts no more. */
  const ended = new Set<string>()
  let named: string

  const tokenOf = ({ headers }: Received) => headers.authorization?.replace(/^Bearer /, '') ?? ''

  /** As a server does that is protected by OAuth (RFC 9728). */
  function protect(): void {
    docs.intercept((received, response) => {
      const about = '/.well-known/oauth-protected-resource/mcp'
      if (received.path === about) {
        writeJson(response, { resource: docs.url, authorization_servers: [named] })
        return true
      }
      const token = tokenOf(received)
      if (received.path !== '/mcp' || (token !== '' && !ended.has(token))) return false
      response.setHeader('www-authenticate', `Bearer resource_metadata="${new URL(about, docs.url)}"`)
      response.writeHead(401).end()
      return true
    })
  }

  async function startIssuer(): Promise<void> {
    const args = [join(clients, 'oauth-server.mjs'), 'svc', clientSecret]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    stopIssuer = async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
    const [line] = await once(child.stdout, 'data')
    issuer = String(line).trim()
  }

  const waitForTool = (name: string, isThere: (tool: Tool) => boolean) =>
    waitFor(async () => {
      const { body } = await service.call<Tool>('GET', `/api/v1/tools/${name}`)
      return isThere(body) ? body : undefined
    }, `the check of ${name}`)

  async function addTool(name: string, secret: string): Promise<void> {
    await service.call('POST', '/api/v1/secrets', { name, stringData: { secret } })
    const oauth = { issuer, clientID: 'svc', clientSecretRef: { name, key: 'secret' }, scope: 'docs:read' }
    const spec = { description: 'the docs', mcp: { url: docs.url, oauth } }
    expect((await service.call('POST', '/api/v1/tools', { name, spec })).status).toBe(201)
  }

  beforeAll(async () => {
    await startIssuer()
    docs = await startScriptedServer()
    service = await startService({ folder, flags: ['--allow-network', '127.0.0.0/8'] })
    await service.call('POST', '/api/v1/providers', { name: 'demo', spec: { type: 'demo', defaultModel: 'demo' } })
  })
  beforeEach(() => {
    named = issuer
    docs.reset()
    protect()
  })
  afterAll(async () => {
    await service?.stop()
    await docs?.stop()
    await stopIssuer?.()
    removeFolder(folder)
  })

  it('is called with a token for it alone, which is got anew when it is accepted no more', async () => {
    await addTool('docs', clientSecret)
    await waitForTool('docs', ({ status }) => status?.available === true)
    const ask = async () => JSON.stringify((await service.call('POST', '/llma/v1/messages', search)).body)
    expect(await ask()).toContain('found')
    const calls = () => docs.seen.filter(({ message }) => message?.method === 'tools/call')
    const first = tokenOf(calls().at(-1) as Received)
    const { payload } = await jwtVerify(first, createRemoteJWKSet(new URL(`${issuer}/jwks`)), {
      issuer,
      audience: docs.url,
    })
    expect(payload).toMatchObject({ client_id: 'svc', scope: 'docs:read' })
    // From its first use on, as if it had been revoked.
    docs.replies['tools/call'] = (response, received) => {
      ended.add(tokenOf(received))
      delete docs.replies['tools/call']
      response.writeHead(401).end()
    }
    expect(await ask()).toContain('found')
    expect(tokenOf(calls().at(-1) as Received)).not.toBe(tokenOf(calls().at(-2) as Received))
    expect(JSON.stringify(docs.seen)).not.toContain(clientSecret)
    expect(JSON.stringify(docs.seen)).not.toContain(Buffer.from(`svc:${clientSecret}`).toString('base64'))
  })

  it('is not available when the authorization server refuses the client, and says so without the secret', async () => {
    await addTool('refused', 'no-such-secret-0123')
    const { status } = await waitForTool('refused', (tool) => tool.status?.error !== undefined)
    expect(status?.error).toMatch(/no token for .* could be had/)
    expect(JSON.stringify(status)).not.toContain('no-such-secret-0123')
    expect(docs.seen.some(({ message }) => message?.method === 'tools/list')).toBe(false)
  })

  it('that names another authorization server gets the secret sent nowhere', async () => {
    const other = await startScriptedServer()
    const asMetadata = {
      issuer: new URL(other.url).origin,
      authorization_endpoint: other.url,
      token_endpoint: other.url,
      response_types_supported: ['code'],
      grant_types_supported: ['client_credentials'],
    }
    other.intercept((received, response) => {
      if (!received.path.startsWith('/.well-known/')) return false
      writeJson(response, asMetadata)
      return true
    })
    named = asMetadata.issuer
    await addTool('elsewhere', clientSecret)
    const { status } = await waitForTool('elsewhere', (tool) => tool.status?.error !== undefined)
    expect(status?.error).toContain(`is not presented to ${named}`)
    expect(other.seen.filter(({ method }) => method === 'POST')).toEqual([])
    await other.stop()
  })
})
