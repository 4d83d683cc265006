import { describe, expect, it } from 'vitest'
import { dialects, framesOf } from '../../../test/fixtures/dialects/dialects.ts'
import { noUsage } from '../../llm/messages/messages.ts'
import { findUsage, readUsage } from '../../llm/messages/usage-reader.ts'
import { findBodyFailure, findStreamFailure } from './answer-end.ts'
import { createAnswerScanner, createStreamScanner } from './usage-scanner.ts'

const endpoints = { llma: 'messages', llmo: 'chat' } as const
/** What only reading the whole turn finds. */
const unseen = ['any/no-calls']
const seen = dialects.filter(({ name }) => !unseen.includes(name))

describe.each(seen.filter(({ stream }) => stream !== undefined))('the passed stream of $name', (dialect) => {
  it('counts as a success where its vendor has finished it, and nowhere else', () => {
    const told: string[] = []
    const ending = Buffer.concat(framesOf(dialect)).toString()
    const endpoint = endpoints[dialect.family]
    const failure = findStreamFailure({ endpoint, ending, counted: undefined }, (kind) => told.push(kind))
    expect(failure !== undefined).toBe(dialect.reading.failure !== undefined)
    expect(told).toEqual(dialect.reading.unknown ?? [])
  })

  it('has the counts that the loop reads, in pieces of any size', () => {
    const bytes = Buffer.concat(framesOf(dialect))
    for (const size of [1, 7, 100, bytes.length]) {
      const scanner = createStreamScanner()
      for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size))
      expect(scanner.read() ?? noUsage).toEqual(dialect.reading.usage ?? scanner.read() ?? noUsage)
    }
  })
})

describe.each(seen.filter(({ whole }) => whole !== undefined))('the passed answer of $name', (dialect) => {
  it('counts as a success where its vendor has finished it, and nowhere else', () => {
    const failure = findBodyFailure(endpoints[dialect.family], dialect.whole, () => {})
    expect(failure !== undefined).toBe(dialect.reading.failure !== undefined)
  })

  it('has the counts that the loop reads', () => {
    const scanner = createAnswerScanner()
    scanner.push(Buffer.from(JSON.stringify(dialect.whole)))
    const counts = findUsage(dialect.whole)
    expect(scanner.read()).toEqual(counts && readUsage(noUsage, counts))
  })
})

describe('the passed stream of a response', () => {
  const frame = (type: string, response: object) => `event: ${type}\ndata: ${JSON.stringify({ type, response })}\n\n`
  const judge = (ending: string, counted?: unknown) =>
    findStreamFailure({ endpoint: 'responses', ending, counted }, () => {})

  it.each([
    ['response.completed', { status: 'completed' }, undefined],
    ['response.incomplete', { status: 'incomplete' }, undefined],
    ['response.failed', { status: 'failed', error: { code: 'server_error', message: 'no luck' } }, 'no luck'],
    ['response.cancelled', { status: 'cancelled' }, 'the response is cancelled'],
    ['response.dreaming', { status: 'dreaming' }, 'the response is dreaming'],
  ])('that ends with %s', (type, response, words) => {
    expect(judge(frame('response.created', { status: 'in_progress' }) + frame(type, response))?.message).toBe(words)
  })

  it('whose last frame is long is judged by the frame that was counted', () => {
    expect(judge('the end of a long frame"}}\n\n', { response: { status: 'completed' } })).toBeUndefined()
  })

  it('that breaks off is no success', () => {
    expect(judge(frame('response.created', { status: 'in_progress' }))?.reason).toBe('AnswerBrokenOff')
  })
})
