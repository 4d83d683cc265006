// Calls about one repository: conditional where the same was asked before, repeated only where nothing can happen twice.
import { createHash } from 'node:crypto'
import type { Endpoints } from '@octokit/types'
import { isSameRepository, type Repository } from '../contract/values/repository-url.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { CodeHostError, isCodeHostError } from '../ports/codehost/code-host.ts'
import { explainGraphql, type GraphqlError, isMove } from './faults.ts'
import type { Send } from './send.ts'
import { toRepository } from './shapes.ts'
import type { SignedIn } from './sign-in.ts'

type Route = keyof Endpoints
type Data<R extends Route> = Endpoints[R]['response']['data']
type ParametersOf<R extends Route> = Omit<Endpoints[R]['parameters'], 'owner' | 'repo' | 'headers' | 'mediaType'>

export type CallsDeps = {
  repository: Repository
  send: Send
  signIn(): Promise<SignedIn>
  /** GraphQL has an address of its own. */
  graphqlUrl: string
  answers: KnownAnswers
  pause(ms: number): Promise<void>
}

const pauses = [250, 1000]
const maxPages = 100
const maxPasses = 3

type Got<V> = { value: V; next: boolean; known: boolean }
type Pages<V> = { values: V[]; pages: number; known: boolean }

export type Calls = ReturnType<typeof createCalls>

export function createCalls({ repository, send, signIn, graphqlUrl, answers, pause }: CallsDeps) {
  async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
    for (const ms of pauses) {
      try {
        return await attempt()
      } catch (error) {
        if (!isCodeHostError(error, 'Unreachable')) throw error
        await pause(ms)
      }
    }
    return attempt()
  }

  /** An answer that cannot be read is none: a proxy's page, or a body of another shape. */
  function understand<D, V>(data: D, toValue: (data: D) => V): V {
    try {
      return toValue(data)
    } catch (error) {
      if (isCodeHostError(error)) throw error
      throw new CodeHostError(
        'Unreachable',
        `${repository.host} answered something that is not what was identity for`,
        {
          cause: error,
        },
      )
    }
  }

  async function readOnce<R extends Route, V>(
    route: R,
    parameters: object,
    toValue: (data: Data<R>) => V,
  ): Promise<Got<V>> {
    const signedIn = await signIn()
    const identity = JSON.stringify([signedIn.key, repository, route, parameters])
    const name = createHash('sha256').update(identity).digest('base64url')
    const before = answers.find<V>(name)
    const condition: Record<string, string> = before === undefined ? {} : { 'if-none-match': before.etag }
    const { status, headers, data } = await send(route, parameters, { headers: condition, signedIn })
    if (status === 304 && before !== undefined) return { value: before.value, next: before.next, known: true }
    const value = understand(data as Data<R>, toValue)
    const next = /rel="?next"?/.test(String(headers.link ?? ''))
    if (headers.etag !== undefined) answers.keep(name, { etag: String(headers.etag), value, next })
    return { value, next, known: false }
  }

  const read = <R extends Route, V>(route: R, parameters: object, toValue: (data: Data<R>) => V) =>
    withRetries(() => readOnce(route, parameters, toValue))

  async function readPages<R extends Route, V>(
    route: R,
    parameters: object,
    toValues: (data: Data<R>) => V[],
  ): Promise<Pages<V>> {
    const all: Got<V[]>[] = []
    do all.push(await read(route, { per_page: 100, ...parameters, page: all.length + 1 }, toValues))
    while (all.at(-1)?.next === true && all.length < maxPages)
    return { values: all.flatMap(({ value }) => value), pages: all.length, known: all.every(({ known }) => known) }
  }

  /** Why nothing is sent to where a redirect leads. */
  async function explainMove(): Promise<CodeHostError> {
    const { data } = await send('GET /repos/{owner}/{repo}', {})
    const moved = understand(data as Data<'GET /repos/{owner}/{repo}'>, (found) => toRepository(repository.host, found))
    const { owner, name } = moved.repository
    if (isSameRepository(repository, moved.repository)) {
      return new CodeHostError(
        'Unreachable',
        `${repository.host} redirects to another address, where nothing is changed`,
      )
    }
    const now = `the repository ${repository.owner}/${repository.name} is now ${owner}/${name}: use that name`
    return new CodeHostError('Moved', now, { movedTo: moved.repository })
  }

  async function sendOnce<V>(route: string, parameters: object, toValue: (data: never) => V): Promise<V> {
    const { status, data } = await send(route, parameters, { redirect: 'manual' })
    if (isMove(status)) throw await explainMove()
    return understand(data as never, toValue)
  }

  function askGraphql<T, V>(query: string, variables: object, toValue: (data: T) => V): Promise<V> {
    return sendOnce(`POST ${graphqlUrl}`, { query, variables }, (answer: { data?: T; errors?: GraphqlError[] }) => {
      if (answer.errors !== undefined && answer.errors.length > 0) throw explainGraphql(repository.host, answer.errors)
      if (answer.data === undefined) throw new TypeError('there is no data')
      return toValue(answer.data)
    })
  }

  return {
    repository,
    async get<R extends Route, V>(route: R, parameters: ParametersOf<R>, toValue: (data: Data<R>) => V): Promise<V> {
      return (await read(route, parameters, toValue)).value
    },
    async getPage<R extends Route, V>(route: R, parameters: ParametersOf<R>, toValues: (data: Data<R>) => V[]) {
      const { value, next } = await read(route, parameters, toValues)
      return { values: value, next }
    },
    /** Every page. */
    async getAll<R extends Route, V>(
      route: R,
      parameters: ParametersOf<R>,
      toValues: (data: Data<R>) => V[],
    ): Promise<V[]> {
      return (await readPages(route, parameters, toValues)).values
    },
    /**
     * Every page of a list that others change meanwhile: pages shift when an entry goes, so that one could be missed.
     * It is read until nothing has changed between its first and its last page, three times at most.
     */
    async getSettled<R extends Route, V>(
      route: R,
      parameters: ParametersOf<R>,
      toValues: (data: Data<R>) => V[],
    ): Promise<V[]> {
      for (let pass = 1; ; pass += 1) {
        const { values, known, pages } = await readPages(route, parameters, toValues)
        if (known || pages === 1 || pass === maxPasses) return values
      }
    },
    /** As text, never kept. */
    async getText<R extends Route>(route: R, parameters: ParametersOf<R>, accept: string): Promise<string> {
      const { data } = await withRetries(() => send(route, parameters, { headers: { accept } }))
      return String(data)
    },
    /** Changes something: sent once, and to the repository's present name only. */
    send: <R extends Route, V>(route: R, parameters: ParametersOf<R>, toValue: (data: Data<R>) => V): Promise<V> =>
      sendOnce(route, parameters, toValue),
    /** Reads by GraphQL. */
    query: <T, V>(query: string, variables: object, toValue: (data: T) => V) =>
      withRetries(() => askGraphql(query, variables, toValue)),
    /** Changes something by GraphQL: sent once. */
    mutate: (mutation: string, variables: object) => askGraphql(mutation, variables, ignoreAnswer),
  }
}

/** Of an answer that says no more than that it was done. */
export const ignoreAnswer = (): void => undefined

// What was answered before, with the tag that lets a code host say that nothing has changed: an unchanged list then costs no quota
// (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api, conditional requests).

/** `value`: what was made of the body, which is far smaller. */
type KnownAnswer<V> = { etag: string; value: V; next: boolean }

type KnownAnswers = {
  find<V>(name: string): KnownAnswer<V> | undefined
  keep<V>(name: string, answer: KnownAnswer<V>): void
}

/** Forgets what was asked for longest ago, beyond `maxBytes` of text. */
export function createKnownAnswers(maxBytes = 64 * 1024 * 1024): KnownAnswers {
  type Entry = { answer: KnownAnswer<unknown>; bytes: number }
  const entries = new BoundedMap<string, Entry>({ max: maxBytes, sizeOf: ({ bytes }) => bytes })
  return {
    find: <V>(name: string) => entries.touch(name)?.answer as KnownAnswer<V> | undefined,
    keep(name, answer) {
      const bytes = 200 + 2 * (JSON.stringify(answer.value) ?? '').length
      if (bytes > maxBytes / 4) entries.delete(name)
      else entries.set(name, { answer, bytes })
    },
  }
}
