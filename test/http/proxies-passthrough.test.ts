// Bytes in, bytes out: what passes, what does not, and what happens when one side stops.
import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { streams } from '../fixtures/llm/wire.ts'
import { type Proxied, readError, simpleMessage, startProxied, vendorKey } from '../fixtures/proxy/proxied.ts'
import { answerJson, llmaAnswer, type Received } from '../fixtures/proxy/upstream.ts'
import { pause, waitFor } from '../fixtures/time.ts'
import { ownerToken } from './service.ts'

let proxied: Proxied
beforeAll(async () => {
  proxied = await startProxied()
  await proxied.addProvider('vendor', {
    price: { currency: 'EUR', inputPerMillion: 1, outputPerMillion: 2, cachedInputPerMillion: 0.5 },
  })
  await proxied.addProvider('completions', { type: 'llmo' })
})
afterAll(() => proxied.stop())
afterEach(() => proxied.upstream.reset())

const messages = '/llma/v1/messages'

describe('a request', () => {
  it('is relayed byte for byte except for the model name [PROXY-003, PROXY-016, LLMA-001, LLMA-008, LLMA-010, LLMA-011, LLMA-014, LLMA-015, LLMA-017, LLMO-001, LLMO-006, HTTP-017]', async () => {
    const text = `{ "future_field": {"a":[1e2,1.0,"\\u00e4ä"]},\n"model": "vendor/m-1",
      "max_tokens":64, "temperature":0.70, "messages":[{"role":"user","content":[{"type":"image","source":{"data":"AA=="}},{"type":"document"},
      {"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}], "thinking":{"type":"enabled","budget_tokens":9},
      "stop_sequences":["x"],"top_p":0.10,"top_k":3,"tool_choice":{"type":"auto"},"metadata":{"user_id":"u"},"system":[] }`
    expect((await proxied.ask(messages, text)).status).toBe(200)
    expect(proxied.upstream.last().body.toString()).toBe(text.replace('vendor/m-1', 'm-1'))
    await proxied.ask('/llmo/v1/chat/completions', text.replace('vendor/', 'completions/'))
    expect(proxied.upstream.last().body.toString()).toBe(text.replace('vendor/m-1', 'm-1'))
  })

  it('keeps the headers meant for the vendor, and none that identify the caller [PROXY-003]', async () => {
    await proxied.ask(messages, simpleMessage('vendor/m'), {
      headers: {
        'anthropic-beta': 'one-2025,two-2025',
        'anthropic-version': '2023-01-01',
        'user-agent': 'client/1',
        'x-stainless-lang': 'js',
        cookie: 'a=b',
        'x-forwarded-for': '10.0.0.1',
        'accept-encoding': 'gzip',
        'txn-token': 'secret-token',
      },
    })
    const { headers } = proxied.upstream.last()
    expect(headers).toMatchObject({
      'anthropic-beta': 'one-2025,two-2025',
      'anthropic-version': '2023-01-01',
      'user-agent': 'client/1',
      'x-stainless-lang': 'js',
      'accept-encoding': 'identity',
      'x-api-key': vendorKey,
    })
    for (const name of ['cookie', 'x-forwarded-for', 'authorization', 'x-svc-tools', 'txn-token']) {
      expect(headers[name]).toBeUndefined()
    }
    expect(JSON.stringify(headers)).not.toContain(ownerToken)
  })

  it('may name its version as llma-version, or not at all [LLMA-007] [NAME-007]', async () => {
    await proxied.ask(messages, simpleMessage('vendor/m'), { headers: { 'llma-version': '2024-02-02' } })
    expect(proxied.upstream.last().headers['anthropic-version']).toBe('2024-02-02')
    await proxied.ask(messages, simpleMessage('vendor/m'))
    expect(proxied.upstream.last().headers['anthropic-version']).toBe('2023-06-01')
  })

  it('is relayed when the token or the provider has tools off [PROXY-001] [PROXY-002]', async () => {
    const made = await proxied.service.call('POST /api/v1/tokens', {
      payload: { name: 'no-tools', serverTools: false },
    })
    const headers = { 'x-svc-tools': 'enabled' }
    await proxied.ask(messages, simpleMessage('vendor/m'), { token: made.json().token, headers })
    expect(JSON.parse(proxied.upstream.last().body.toString()).tools).toBeUndefined()
    const off = { serverTools: false }
    const llmo = { type: 'llmo', baseURL: `${proxied.upstream.url}/v1` }
    const hi = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 9 }
    for (const [name, path, spec] of [
      ['llma', messages, {}],
      ['llmo', '/llmo/v1/chat/completions', llmo],
    ] as const) {
      await proxied.addProvider(`${name}-with-tools`, spec)
      await proxied.addProvider(`${name}-without`, { ...spec, ...off })
      const toolsOf = async (provider: string) => {
        await proxied.ask(path, { model: `${provider}/m`, ...hi }, { headers })
        return JSON.parse(proxied.upstream.last().body.toString()).tools
      }
      expect(await toolsOf(`${name}-with-tools`)).not.toHaveLength(0)
      expect(await toolsOf(`${name}-without`)).toBeUndefined()
    }
  })
})

describe('an answer', () => {
  it('is returned byte for byte, with the headers that mean something to a client [PROXY-003]', async () => {
    const text = '{ "id":"x",\n "unknown":1.0, "usage":{"input_tokens":1,"output_tokens":1} }'
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'request-id': 'req_vendor',
        'anthropic-ratelimit-requests-remaining': '7',
        'anthropic-organization-id': 'org-1',
        'x-ratelimit-limit-tokens': '9',
        'set-cookie': 'a=b',
        server: 'vendor',
      })
      response.end(text)
    }
    const answer = await proxied.ask(messages, simpleMessage('vendor/m'))
    expect(await answer.text()).toBe(text)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'request-id': 'req_vendor',
      'anthropic-ratelimit-requests-remaining': '7',
      'x-ratelimit-limit-tokens': '9',
      'x-content-type-options': 'nosniff',
    })
    for (const name of ['set-cookie', 'server', 'anthropic-organization-id'])
      expect(answer.headers.get(name)).toBeNull()
  })

  it.each([
    ['llma', messages, 'vendor/m'],
    ['llmo', '/llmo/v1/chat/completions', 'completions/m'],
  ] as const)(
    'of family %s in a stream is the vendor’s own, wherever it is split [PROXY-003] [LLMA-005] [LLMO-003]',
    async (family, path, model) => {
      const bytes = Buffer.from(streams[family])
      for (const size of [1, 7, 64, bytes.length]) {
        proxied.upstream.script.answer = ({ response }) => {
          response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
          for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
          response.end()
        }
        const answer = await proxied.ask(
          path,
          simpleMessage(model, { stream: true, stream_options: { include_usage: true } }),
        )
        expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
        expect([size, await answer.text()]).toEqual([size, streams[family]])
      }
    },
  )

  it('in a stream is not held back: each frame is passed on before the next is sent [PROXY-003]', async () => {
    let vendor: Received | undefined
    proxied.upstream.script.answer = (received) => {
      vendor = received
      received.response.writeHead(200, { 'content-type': 'text/event-stream' })
      received.response.flushHeaders()
    }
    const answer = await proxied.ask(messages, simpleMessage('vendor/m', { stream: true }))
    expect(answer.status).toBe(200)
    const reader = answer.body?.getReader()
    for (const frame of ['event: a\ndata: {}\n\n', 'half a fr', 'ame\n\n', ': ping\n\n']) {
      vendor?.response.write(frame)
      const { value } = (await reader?.read()) ?? {}
      expect(Buffer.from(value ?? []).toString()).toBe(frame)
    }
    vendor?.response.end()
    expect((await reader?.read())?.done).toBe(true)
  })

  it('that the vendor breaks off is broken off for the client too', async () => {
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: a\ndata: {}\n\n')
      setImmediate(() => response.destroy())
    }
    const answer = await proxied.ask(messages, simpleMessage('vendor/m', { stream: true }))
    await expect(answer.text()).rejects.toThrow()
  })
})

describe('a client', () => {
  it('that leaves ends the call of the vendor at once, and its tokens so far are counted', async () => {
    let closed = false
    await proxied.addProvider('left-alone')
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"message":{"usage":{"input_tokens":77,"output_tokens":1}}}\n\n')
      response.once('close', () => {
        closed = true
      })
    }
    const leaving = new AbortController()
    const answer = await proxied.ask(messages, simpleMessage('left-alone/m', { stream: true }), {
      signal: leaving.signal,
    })
    await answer.body?.getReader().read()
    leaving.abort()
    await waitFor(() => closed, 'the call of the vendor to end')
    const tokens = async () => {
      const { items } = (await proxied.service.call('GET /api/v1/usage?groupBy=provider')).json()
      return items.find((item: { key: string }) => item.key.endsWith('left-alone'))?.inputTokens
    }
    await waitFor(async () => (await tokens()) === 77, 'the tokens to be counted')
  })

  it('that leaves before the vendor has answered ends that call too', async () => {
    let closed = false
    proxied.upstream.script.answer = ({ response }) => {
      response.once('close', () => {
        closed = true
      })
    }
    const leaving = new AbortController()
    const asked = proxied.ask(messages, simpleMessage('vendor/m'), { signal: leaving.signal }).catch(() => {})
    await waitFor(() => proxied.upstream.received.length === 1, 'the request to arrive')
    leaving.abort()
    await waitFor(() => closed, 'the call of the vendor to end')
    await asked
  })

  it('that reads slowly slows the vendor down', async () => {
    const total = 64 * 1_048_576
    let sent = 0
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const chunk = Buffer.alloc(65_536, 0x61)
      const more = () => {
        while (sent < total) {
          sent += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    }
    const body = JSON.stringify(simpleMessage('vendor/m', { stream: true }))
    const { port } = new URL(proxied.url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = `POST ${messages} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${ownerToken}\r\nX-Svc-Tools: disabled`
    socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    socket.pause()
    await waitFor(() => sent > 0, 'the vendor to begin')
    let before = -1
    await waitFor(async () => {
      const still = sent === before
      before = sent
      await pause(100)
      return still
    }, 'the vendor to stand still')
    expect(sent).toBeLessThan(total / 2)
    let read = 0
    socket.on('data', (part) => {
      read += part.length
    })
    socket.resume()
    await waitFor(() => read >= total, 'everything to arrive')
    socket.destroy()
  })
})

describe('connections to a vendor', () => {
  it('are kept and reused', async () => {
    await proxied.ask(messages, simpleMessage('vendor/m'))
    const before = proxied.upstream.connections()
    for (let count = 0; count < 50; count += 1) await (await proxied.ask(messages, simpleMessage('vendor/m'))).text()
    expect(proxied.upstream.connections() - before).toBeLessThanOrEqual(1)
  })

  it('that the vendor closes at that moment are replaced without an error, since nothing had come back', async () => {
    let times = 0
    proxied.upstream.script.answer = (received) => {
      times += 1
      if (times === 1) received.response.destroy()
      else answerJson(llmaAnswer)(received)
    }
    expect((await proxied.ask(messages, simpleMessage('vendor/m'))).status).toBe(200)
    expect(times).toBe(2)
  })

  it('that cannot be opened give a 502 that names the provider’s host', async () => {
    await proxied.addProvider('away', { baseURL: 'http://127.0.0.1:9' })
    const answer = await proxied.ask(messages, simpleMessage('away/m'))
    expect([answer.status, await readError(answer)]).toMatchObject([
      502,
      { type: 'error', error: { type: 'api_error' } },
    ])
  })
})

describe('a refusal of the vendor', () => {
  const refuse = (status: number, body: object, headers: Record<string, string> = {}) => {
    proxied.upstream.script.answer = answerJson(body, status, headers)
    return proxied.ask(messages, simpleMessage('vendor/m'))
  }
  const errorOf = (type: string, message: string) => ({ type: 'error', error: { type, message } })

  it.each([401, 403])(
    '%i of its credential becomes a 502 that says which provider’s credential it was [PROXY-017]',
    async (status) => {
      const answer = await refuse(status, errorOf('authentication_error', `invalid x-api-key ${vendorKey}`))
      expect(answer.status).toBe(502)
      const text = await answer.text()
      expect(text).toContain('Provider default/vendor refused the API key')
      expect(text).not.toContain(vendorKey)
    },
  )

  it.each([
    [400, 'invalid_request_error'],
    [404, 'not_found_error'],
    [413, 'request_too_large'],
  ])("%i is the vendor's own, byte for byte [PROXY-018] [PROXY-019]", async (status, type) => {
    const body = errorOf(type, 'model: words of the vendor')
    const answer = await refuse(status, body)
    expect([answer.status, await answer.text()]).toEqual([status, JSON.stringify(body)])
  })

  it('of the vendor are a 502 with its words, byte for byte', async () => {
    const body = errorOf('api_error', 'words of the vendor')
    const answer = await refuse(500, body)
    expect([answer.status, await answer.text()]).toEqual([502, JSON.stringify(body)])
  })

  it('never contains the key, even when the vendor repeats it', async () => {
    const answer = await refuse(400, errorOf('invalid_request_error', `bad key ${vendorKey}`))
    expect(await answer.text()).not.toContain(vendorKey)
  })

  it('that is not JSON becomes an error with a message', async () => {
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(500, { 'content-type': 'text/html' })
      response.end('<h1>oops</h1>')
    }
    const answer = await proxied.ask(messages, simpleMessage('vendor/m'))
    expect([answer.status, await readError(answer)]).toMatchObject([
      502,
      { type: 'error', error: { type: 'api_error' } },
    ])
  })

  it('529 is 529 with Retry-After [PROXY-021]', async () => {
    await proxied.addProvider('overloaded')
    proxied.upstream.script.answer = answerJson(errorOf('overloaded_error', 'Overloaded'), 529)
    const answer = await proxied.ask(messages, simpleMessage('overloaded/m'))
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([529, true])
  })

  it('429 is 429 with its Retry-After, and no call is sent before that time [PROXY-020] [PROV-010]', async () => {
    await proxied.addProvider('busy')
    proxied.upstream.script.answer = answerJson(errorOf('rate_limit_error', 'slow down'), 429, { 'retry-after': '120' })
    const first = await proxied.ask(messages, simpleMessage('busy/m'))
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '120'])
    const second = await proxied.ask(messages, simpleMessage('busy/m'))
    expect([second.status, Number(second.headers.get('retry-after')) > 100]).toEqual([429, true])
    expect(proxied.upstream.received).toHaveLength(1)
    const key = { namespace: 'default', name: 'busy' }
    await waitFor(
      async () => (await proxied.service.ports.records.rateLimits.coolingDown(key)) !== undefined,
      'the cool-down',
    )
  })
})

describe('what was used', () => {
  type Sum = {
    key: string
    inputTokens: number
    outputTokens: number
    cachedTokens: number
    cacheWriteTokens?: number
    llmCalls: number
    cost: number
  }
  const read = async () => {
    const { items } = (await proxied.service.call('GET /api/v1/usage?groupBy=provider')).json() as { items: Sum[] }
    return items.find((item) => item.key.endsWith('tallied'))
  }

  it('is summed per caller and provider, with its cost, and written within about a second [USAGE-004] [PROXY-004]', async () => {
    await proxied.addProvider('tallied', {
      price: { inputPerMillion: 10, outputPerMillion: 20, cachedInputPerMillion: 1 },
    })
    for (let count = 0; count < 3; count += 1) await (await proxied.ask(messages, simpleMessage('tallied/m'))).text()
    proxied.upstream.script.answer = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(streams.llma)
    }
    await (await proxied.ask(messages, simpleMessage('tallied/m', { stream: true }))).text()
    await waitFor(async () => (await read())?.llmCalls === 4, 'four calls to be tallied')
    expect(await read()).toMatchObject({ inputTokens: 75, outputTokens: 57, cachedTokens: 19, cacheWriteTokens: 6 })
    expect((await read())?.cost).toBeCloseTo((56 * 10 + 19 * 1 + 57 * 20) / 1e6, 9)
    const callers = (await proxied.service.call('GET /api/v1/usage?groupBy=caller')).json()
    expect(callers.items.map((item: Sum) => item.key)).toContain('owner')
  })

  it('appears in the metrics without any text of a user [HTTP-042]', async () => {
    const { text } = await proxied.service.metrics.expose()
    expect(text).not.toContain('tallied')
    expect(text).toMatch(/svc_proxy_tokens_total\{provider="llma",kind="input"\} \d\d/)
    expect(text).toMatch(/svc_proxy_tokens_total\{provider="llma",kind="cache_write"\} \d/)
    expect(text).toMatch(/svc_proxy_first_byte_seconds_count\{family="llma",endpoint="messages"\} \d/)
    expect(text).toContain('svc_proxy_added_seconds_bucket')
    const last = /svc_proxy_provider_last_end_timestamp_seconds\{provider="llma",outcome="ok"\} (\S+)/.exec(text)?.[1]
    expect(Math.abs(Number(last) - Date.now() / 1000)).toBeLessThan(600)
  })
})
