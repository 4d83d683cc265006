import { describe, expect, it } from 'vitest'
import { chooseType } from './accept.ts'

const stream = 'text/event-stream'
const json = 'application/json'

describe('the negotiation of the answer', () => {
  it.each([
    [undefined, stream],
    ['*/*', stream],
    ['', stream],
    [stream, stream],
    [json, json],
    ['application/json; charset=utf-8', json],
    ['APPLICATION/JSON', json],
    ['application/*', json],
    ['text/event-stream, application/json', stream],
    ['application/json, text/event-stream', stream],
    ['application/json, text/plain, */*', json],
    ['text/event-stream;q=0.5, application/json', json],
    ['application/json;q=0.5, text/event-stream;q=0.9', stream],
    ['application/json;q=0, */*', stream],
    ['text/event-stream;q=0, */*', json],
    ['text/html', stream],
    ['nonsense', stream],
    ['application/json;q=nonsense, text/event-stream;q=0.1', stream],
  ])('reads %s as %s', (header, expected) => {
    expect(chooseType(header, [stream, json])).toBe(expected)
  })
})
