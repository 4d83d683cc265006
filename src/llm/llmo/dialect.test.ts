import { describe, expect, it } from 'vitest'
import { adaptDialect, createDialects, dialectsOf, guessDialect } from './dialect.ts'

describe('the dialect of a server', () => {
  it('is learnt from what it refuses, and from nothing else', () => {
    const guessed = guessDialect(false)
    const says = (message: string) => ({ model: 'm', message, returned: [] })
    expect(adaptDialect(guessed, says("Unsupported parameter: 'max_tokens'."))).toEqual({
      maxTokensField: 'max_completion_tokens',
      streamOptions: true,
    })
    const learned = adaptDialect(guessed, says('extra fields not permitted: stream_options'))
    expect(learned).toEqual({ maxTokensField: 'max_tokens', streamOptions: false })
    expect(adaptDialect(learned ?? guessed, says('stream_options again'))).toBeUndefined()
    expect(adaptDialect(guessed, says('messages: too long'))).toBeUndefined()
  })

  it('is known by its address, to all who dial through the same port', () => {
    const owner = {}
    const dialect = { maxTokensField: 'max_tokens', streamOptions: false } as const
    dialectsOf(owner).learn('http://one', dialect)
    expect(dialectsOf(owner).of('http://one')).toEqual(dialect)
    expect(dialectsOf(owner).of('http://other')).toBeUndefined()
    expect(dialectsOf({}).of('http://one')).toBeUndefined()
  })

  it('is forgotten when there are too many servers', () => {
    const dialects = createDialects()
    for (let index = 0; index <= 1000; index++) dialects.learn(`http://${index}`, guessDialect(true))
    expect([dialects.of('http://0'), dialects.of('http://1000')]).toEqual([undefined, guessDialect(true)])
  })
})
