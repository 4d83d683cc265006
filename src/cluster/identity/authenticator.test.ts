import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { KubernetesApi } from '../api.ts'
import { createReviewAuthenticator, namespaceOfUser } from './authenticator.ts'

type Answer = object | Error

/** The API server's side: one answer per token; counts what it is asked. */
function answerReviews(byToken: Record<string, Answer>) {
  const asked: string[] = []
  const request = async ({ body }: { body?: unknown }) => {
    const { token } = (body as { spec: { token: string } }).spec
    asked.push(token)
    const answer = byToken[token]
    if (answer instanceof Error) throw answer
    return { status: answer ?? { authenticated: false } }
  }
  return { asked, api: { request } as Pick<KubernetesApi, 'request'> }
}

const builder = {
  authenticated: true,
  user: {
    username: 'system:serviceaccount:team:builder',
    uid: 'u1',
    groups: ['system:serviceaccounts', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/pod-name': ['builder-0'] },
  },
}

function open(byToken: Record<string, Answer>) {
  const clock = createManualClock()
  const api = answerReviews(byToken)
  const authenticator = createReviewAuthenticator({ api: api.api, clock })
  const check = (token: string) => authenticator.authenticate({ token, source: 'bearer' })
  return { clock, api, check }
}

describe('tokens by TokenReview', () => {
  it('identify the user that the API server names, in the namespace of the service account [MODE-009]', async () => {
    const { check } = open({ good: builder })
    expect(await check('good')).toEqual({
      authType: 'tokenReview',
      username: 'system:serviceaccount:team:builder',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:authenticated'],
      cluster: {
        user: 'system:serviceaccount:team:builder',
        uid: 'u1',
        groups: ['system:serviceaccounts', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/pod-name': ['builder-0'] },
      },
      namespace: 'team',
      role: 'editor',
      serverTools: true,
    })
  })

  it.each([
    ['system:serviceaccount:team:builder', 'team'],
    ['system:serviceaccount:team', undefined],
    ['system:serviceaccount:a:b:c', undefined],
    ['jane', undefined],
  ])('of %s have the namespace %s', (username, namespace) => {
    expect(namespaceOfUser(username)).toBe(namespace)
  })

  it.each([
    ['is not authenticated', { authenticated: false, error: 'expired' }],
    ['comes with an error', { ...builder, error: 'the audience is another' }],
    ['names no user', { authenticated: true, user: {} }],
  ])('are refused when the answer %s, always in the same words', async (_what, answer) => {
    const { check } = open({ bad: answer })
    await expect(check('bad')).rejects.toThrow('the credential is missing or not valid: send a valid token')
  })

  it('are trusted for 60 s, or refused for 5 s, without another review [AUTH-015]', async () => {
    const { api, check, clock } = open({ good: builder })
    await check('good')
    clock.jump(59_999)
    await check('good')
    expect(api.asked).toEqual(['good'])
    clock.jump(1)
    await check('good')
    expect(api.asked).toEqual(['good', 'good'])
    await expect(check('bad')).rejects.toThrow()
    clock.jump(4_999)
    await expect(check('bad')).rejects.toThrow()
    expect(api.asked).toHaveLength(3)
    clock.jump(1)
    await expect(check('bad')).rejects.toThrow()
    expect(api.asked).toHaveLength(4)
  })

  it('that arrive at the same time are reviewed once', async () => {
    const { api, check } = open({ good: builder })
    await Promise.all([check('good'), check('good'), check('good')])
    expect(api.asked).toEqual(['good'])
  })

  it('are neither accepted nor refused while the API server is away, and that answer is not cached', async () => {
    const answers: Record<string, Answer> = { good: new SvcError('Unavailable', 'the API server is away') }
    const { check } = open(answers)
    await expect(check('good')).rejects.toSatisfy((error) => isSvcError(error, 'Unavailable'))
    answers.good = builder
    expect((await check('good')).username).toBe(builder.user.username)
  })

  it('cannot be reviewed when the service itself lacks the right, which is not the caller’s fault', async () => {
    const { check } = open({ good: new SvcError('Forbidden', 'tokenreviews is forbidden') })
    await expect(check('good')).rejects.toSatisfy((error) => isSvcError(error, 'Unavailable'))
  })

  it('that no API server could issue are refused without a review', async () => {
    const { api, check } = open({})
    await expect(check('')).rejects.toThrow('valid token')
    await expect(check('x'.repeat(100_000))).rejects.toThrow('valid token')
    expect(api.asked).toEqual([])
  })

  it('that are refused push no accepted one out of the cache, however many come', async () => {
    const { api, check } = open({ good: builder })
    await check('good')
    for (let index = 0; index < 5_100; index += 1) await check(`bad-${index}`).catch(() => undefined)
    const before = api.asked.length
    await check('good')
    expect(api.asked).toHaveLength(before)
    // Forgotten although its 5 s are not over: the memory has an end.
    await check('bad-0').catch(() => undefined)
    expect(api.asked).toHaveLength(before + 1)
  })
})
