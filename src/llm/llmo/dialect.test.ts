import { describe, expect, it } from 'vitest'
import { adaptDialect, createDialects, dialectsOf, guessDialect } from './dialect.ts'

describe('the dialect of a server', () => {
  it('is learnt from what it refuses, and from nothing else', () => {
    const guessed = guessDialect(false)
    const says = (message: string) => ({ model: 'm', message, returned: [], fields: [] })
    expect(adaptDialect(guessed, says("Unsupported parameter: 'max_tokens'."))).toEqual({
      maxTokensField: 'max_completion_tokens',
      streamOptions: true,
    })
    const learned = adaptDialect(guessed, says('extra fields not permitted: stream_options'))
    expect(learned).toEqual({ maxTokensField: 'max_tokens', streamOptions: false })
    expect(adaptDialect(learned ?? guessed, says('stream_options again'))).toBeUndefined()
    expect(adaptDialect(guessed, says('messages: too long'))).toBeUndefined()
  })

  it('leaves out what a server does not know of a request and can be spared, by model', () => {
    const sent = { model: 'm', returned: [], fields: ['temperature', 'response_format', 'prompt_cache_key'] }
    const says = (message: string) => adaptDialect(guessDialect(false), { ...sent, message })?.unknown
    const fixed = "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is"
    expect(says(fixed)).toEqual({ m: ['temperature'] })
    expect(says('body.prompt_cache_key: Extra inputs are not permitted')).toEqual({ m: ['prompt_cache_key'] })
    expect(says("Invalid 'temperature': decimal above maximum value")).toBeUndefined()
    expect(says("Unsupported parameter: 'response_format'")).toBeUndefined()
    expect(says("Unsupported parameter: 'verbosity'")).toBeUndefined()
  })

  it('goes to the API that the vendor points to, and without reasoning where there is none', () => {
    const message = 'Function tools with reasoning_effort are not supported for m. To use them, use /v1/responses.'
    const refused = { model: 'm', message, status: 400, returned: [], fields: ['reasoning_effort'] }
    const other = adaptDialect(guessDialect(true), refused)
    expect(other?.doors).toEqual({ m: 'responses' })
    const missing = { ...refused, message: 'Not Found', status: 404 }
    expect(adaptDialect(other ?? guessDialect(true), missing)?.doors).toEqual({ m: 'unreasoned' })
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
