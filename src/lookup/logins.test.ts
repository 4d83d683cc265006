import { describe, expect, it } from 'vitest'
import type { CodeHosts } from '../ports/codehost/code-host.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { openCodeHost, readCodeHostLogin, readGitLogin } from './logins.ts'
import { readSkillSource } from './tools.ts'

const repository = { host: 'github.com', owner: 'acme', name: 'site' }
const key = { namespace: 'team', name: 'login' }

function secretsOf(values: Record<string, string> | undefined, annotations: Record<string, string> = {}): Secrets {
  return { read: async () => values, describe: async () => ({ annotations }) } as never
}

const read = (values: Record<string, string> | undefined, annotations?: Record<string, string>) =>
  readCodeHostLogin(secretsOf(values, annotations), key, { owner: 'gitSecretRef', repository })

describe('the login of the code host', () => {
  it.each([
    [{ CODEHOST_TOKEN: 'one', token: 'two' }, 'one'],
    [{ GITHUB_TOKEN: ' one ' }, 'one'],
    [{ token: '', password: 'one' }, 'one'],
  ])('is a token under any of its names: %j [NAME-013]', async (values, token) => {
    expect(await read(values)).toEqual({ kind: 'token', token })
  })

  it('may be an App, which goes before a token', async () => {
    const app = { CODEHOST_APP_ID: '7', CODEHOST_APP_PRIVATE_KEY: 'pem', token: 'one' }
    expect(await read(app)).toEqual({ kind: 'app', appId: '7', privateKey: 'pem' })
    expect(await read({ GITHUB_APP_ID: '7', GITHUB_APP_PRIVATE_KEY: 'pem', GITHUB_APP_INSTALLATION_ID: '42' })).toEqual(
      {
        kind: 'app',
        appId: '7',
        privateKey: 'pem',
        installationId: 42,
      },
    )
    expect(await read({ CODEHOST_APP_ID: '7', token: 'one' })).toEqual({ kind: 'token', token: 'one' })
  })

  it('that is missing is explained to the owner of the resource', async () => {
    await expect(read(undefined)).rejects.toThrow(
      'secret "login" in namespace "team", named by gitSecretRef, does not exist',
    )
    await expect(read({ other: 'x' })).rejects.toThrow('has none of CODEHOST_TOKEN, GITHUB_TOKEN, token, password')
  })

  it('goes only where its Secret may be sent', async () => {
    const only = (hosts: string) => ({ 'svc.ai/allowed-hosts': hosts })
    expect(await read({ token: 'one' }, only('github.com'))).toMatchObject({ token: 'one' })
    await expect(read({ token: 'one' }, only('example.com'))).rejects.toThrow('may be sent to example.com')
  })

  it('is read for each call, and not at all without a Secret', async () => {
    const reads: unknown[] = []
    const codeHosts = {
      open: (_: unknown, login: { readCredentials(): Promise<unknown> }) => reads.push(login),
    } as never
    const open = (secret: typeof key | undefined) =>
      openCodeHost(
        { codeHosts: codeHosts as CodeHosts, secrets: secretsOf({ token: 'one' }) },
        { secret, repository, owner: 'x' },
      )
    open(key)
    open(undefined)
    const [signed, unsigned] = reads as { readCredentials(): Promise<unknown> }[]
    expect(await signed?.readCredentials()).toEqual({ kind: 'token', token: 'one' })
    expect(await unsigned?.readCredentials()).toBeUndefined()
  })

  it('of an App makes a token for git, for repositories of the code host alone', async () => {
    const codeHosts = { hosts: ['github.com'], gitPassword: async () => 'minted' } as unknown as CodeHosts
    const values = { CODEHOST_APP_ID: '7', CODEHOST_APP_PRIVATE_KEY: 'pem', password: 'plain' }
    const readFor = (url: string) => readGitLogin(secretsOf(values), key, { owner: 'x', url: new URL(url), codeHosts })
    expect(await readFor('https://github.com/acme/site.git')).toEqual({
      username: 'x-access-token',
      password: 'minted',
    })
    expect(await readFor('https://example.com/acme/site.git')).toEqual({ password: 'plain' })
  })

  it('of an App reads skills, too', async () => {
    const asked: unknown[] = []
    const ports = {
      secrets: secretsOf({ CODEHOST_APP_ID: '7', CODEHOST_APP_PRIVATE_KEY: 'pem' }),
      clock: { now: () => new Date(0) } as never,
      codeHosts: { hosts: ['github.com'], gitPassword: async () => 'minted' } as unknown as CodeHosts,
      repositoryFolders: {
        read: async (folder: object) => {
          asked.push(folder)
          const text = '---\nname: style\ndescription: How we write\n---\n# Be brief\n'
          return { commit: 'a'.repeat(40), files: new Map([['SKILL.md', Buffer.from(text)]]) }
        },
      },
    }
    const source = { codehost: 'https://github.com/acme/skills', secretRef: { name: 'login' } }
    const asking = { namespace: 'team', before: undefined, source }
    const spec = await readSkillSource(ports, asking, new AbortController().signal)
    expect(spec.description).toBe('How we write')
    expect(asked).toMatchObject([{ credentials: { username: 'x-access-token', password: 'minted' } }])
  })
})
