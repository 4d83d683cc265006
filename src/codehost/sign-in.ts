// Signing in: with a token as it is, or as an installation of a GitHub App, whose tokens are valid for an hour and are made for one
// repository (https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app).
import { createHash } from 'node:crypto'
import type { Repository } from '../contract/values/repository-url.ts'
import type { CodeHostCredentials } from '../ports/codehost/code-host.ts'
import { explainCodeHostFault } from './faults.ts'

/** `key` tells logins apart without being one; empty when nobody is signed in. */
export type SignedIn = { key: string; token: string | undefined }

type AppCredentials = Extract<CodeHostCredentials, { kind: 'app' }>
type Minted = { token: string; expiresAt: number }

/** A token is made anew when it is valid for less. */
const minValidityMs = 5 * 60_000

function keyOf(...parts: unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}

export type SignIn = {
  signIn(repository: Repository, credentials: CodeHostCredentials | undefined): Promise<SignedIn>
  /** `<slug>[bot]`. */
  nameApp(repository: Repository, credentials: AppCredentials): Promise<string>
}

type SignInDeps = { apiUrl(host: string): URL; fetch: typeof globalThis.fetch; now(): number }

export function createSignIn({ apiUrl, fetch, now }: SignInDeps): SignIn {
  const minted = new Map<string, Promise<Minted>>()

  async function openApp({ host }: Repository, { appId, privateKey }: AppCredentials) {
    const [{ createAppAuth }, { request }] = await Promise.all([
      import('@octokit/auth-app'),
      import('@octokit/request'),
    ])
    const baseUrl = apiUrl(host).href.replace(/\/$/, '')
    const send = request.defaults({ baseUrl, request: { fetch } })
    const auth = createAppAuth({ appId, privateKey, request: send })
    return {
      auth,
      send: async (route: string, parameters: object) => {
        const { token } = await auth({ type: 'app' })
        return send(route, { ...parameters, headers: { authorization: `bearer ${token}` } })
      },
    }
  }

  async function mint(repository: Repository, credentials: AppCredentials): Promise<Minted> {
    const { owner, name, host } = repository
    try {
      const { auth, send } = await openApp(repository, credentials)
      const parameters = credentials.installationId
      const installationId =
        parameters ?? (await send('GET /repos/{owner}/{repo}/installation', { owner, repo: name })).data.id
      const made = await auth({ type: 'installation', installationId, repositoryNames: [name] })
      return { token: made.token, expiresAt: Date.parse(made.expiresAt) }
    } catch (error) {
      throw explainCodeHostFault(error, { host, login: true, timedOut: false })
    }
  }

  async function tokenOf(name: string, repository: Repository, credentials: AppCredentials): Promise<string> {
    const known = minted.get(name)
    const before = await known?.catch(() => undefined)
    if (before !== undefined && before.expiresAt - now() > minValidityMs) return before.token
    if (minted.get(name) === known) {
      const made = mint(repository, credentials)
      minted.set(name, made)
      made.catch(() => minted.delete(name))
    }
    return (await (minted.get(name) as Promise<Minted>)).token
  }

  return {
    async signIn(repository, credentials) {
      if (credentials === undefined) return { key: '', token: undefined }
      if (credentials.kind === 'token')
        return { key: keyOf(repository.host, credentials.token), token: credentials.token }
      const key = keyOf(credentials, repository)
      return { key, token: await tokenOf(key, repository, credentials) }
    },
    async nameApp(repository, credentials) {
      try {
        const { send } = await openApp(repository, credentials)
        const { data } = await send('GET /app', {})
        return `${data.slug}[bot]`
      } catch (error) {
        throw explainCodeHostFault(error, { host: repository.host, login: true, timedOut: false })
      }
    },
  }
}
