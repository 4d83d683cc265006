import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { diagnoseMachine } from '../compose/doctor.ts'
import { loadConfig } from '../config/load.ts'
import { findSizeLayer } from '../runtime/folders/workspaces.ts'
import { findSocketScope } from '../runtime/local/confinement/socket-scope.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function examine(platform: NodeJS.Platform, env: Record<string, string> = {}) {
  const config = loadConfig({ flags: { port: 0 }, env: { HOME: join(folder, 'not', 'made', 'yet'), ...env } })
  return diagnoseMachine(config, { platform })
}

describe('the doctor', () => {
  it.each(['darwin', 'win32'] as const)(
    'says on %s that the sandbox is missing and what to do [PLAT-002]',
    async (platform) => {
      const findings = await examine(platform)
      const sandbox = findings.find(({ what }) => what === 'sandbox')
      // A container engine, where there is one, takes the place of the sandbox.
      expect(['missing', 'warning']).toContain(sandbox?.state)
      expect(sandbox?.fix).toMatch(/\w/)
      expect(sandbox?.detail).toMatch(/Linux|bubblewrap/)
    },
  )

  it('names the keys of the environment and never their values', async () => {
    const findings = await examine('linux', { OPENAI_API_KEY: 'the-value-of-the-key' })
    expect(findings).toContainEqual({ what: 'model keys', state: 'ok', detail: 'OPENAI_API_KEY in the environment' })
    expect(JSON.stringify(findings)).not.toContain('the-value-of-the-key')
  })

  it('names the agent programs that it finds, and those that were added', async () => {
    const found = async (env: Record<string, string>) =>
      (await examine('linux', env)).find(({ what }) => what === 'agents')
    expect(await found({ PATH: '/usr/bin:/bin' })).toMatchObject({
      state: 'warning',
      fix: expect.stringMatching(/install/),
    })
    expect(await found({ PATH: '/usr/bin:/bin', SVC_AGENT_PROGRAM: 'own=true --acp' })).toMatchObject({
      state: 'ok',
      detail: 'programs for own',
    })
  })

  it('says how large a workspace may be, how that is enforced, and why not by something better', async () => {
    const limits = { SVC_WORKSPACE_SIZE: '256Mi', SVC_WORKSPACE_FILES: '1000' }
    const found = (await examine('linux', limits)).find(({ what }) => what === 'workspaces')
    const layer = await findSizeLayer(mkdtempSync(join(folder, 'layer-')))
    expect(found).toMatchObject(
      layer.kind === 'image'
        ? { state: 'ok', detail: 'at most 256 MiB or 1000 files; each is a file system of its own' }
        : {
            state: 'warning',
            detail: expect.stringMatching(/^at most 256 MiB or 1000 files; watched .*: \w/),
            fix: expect.stringContaining('as root'),
          },
    )
    if (layer.kind === 'watch') expect(found?.detail).toContain(layer.why)
  })

  it('says whether tasks reach the abstract sockets of the machine, and what would change that', async () => {
    const ofSockets = async (platform: NodeJS.Platform) =>
      (await examine(platform)).find(({ what }) => what === 'sockets')
    const scope = findSocketScope()
    expect(await ofSockets('linux')).toEqual({
      what: 'sockets',
      ...(scope.available
        ? { state: 'ok', detail: 'abstract Unix sockets are out of reach of tasks' }
        : { state: 'warning', detail: expect.stringContaining(scope.reason), fix: scope.suggestion }),
    })
    expect(await ofSockets('darwin')).toBeUndefined()
  })

  it('creates no folder', async () => {
    const findings = await examine('linux')
    expect(findings.find(({ what }) => what === 'data folder')?.detail).toContain(join(folder, 'not', 'made', 'yet'))
    expect(() => rmSync(join(folder, 'not'))).toThrow('ENOENT')
  })
})
