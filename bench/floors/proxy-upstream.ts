// The vendor of the proxy bench: answers both families at once, or as a stream of chunks; with tools it calls one first.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

const usage = { input_tokens: 21, output_tokens: 9, prompt_tokens: 21, completion_tokens: 9, total_tokens: 30 }
const text = 'The answer of a model that has little to say but says it in whole sentences, as models do.'

function llmaMessage(content: object[], stop: string) {
  const head = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' }
  return JSON.stringify({ ...head, content, stop_reason: stop, stop_sequence: null, usage })
}

const llmaText = llmaMessage([{ type: 'text', text }], 'end_turn')
const llmaTool = llmaMessage(
  [{ type: 'tool_use', id: 'toolu_bench', name: 'file_write', input: { path: 'bench.txt', content: 'bench' } }],
  'tool_use',
)
const llmoText = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1,
  model: 'bench',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage,
})

const frame = (event: string, data: object) => `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`
const opening = [
  frame('message_start', {
    message: { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench', content: [], usage },
  }),
  frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
].join('')
const delta = frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'a few words more ' } })
const closing = [
  frame('content_block_stop', { index: 0 }),
  frame('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 9 } }),
  frame('message_stop', {}),
].join('')
const llmoDelta = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'a few words more ' } }] })}\n\n`
const llmoClosing = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`

/** `x-bench-chunks` and `x-bench-pause` would not pass every gateway: they stand in the model's name, `bench-CHUNKS-PAUSE`. */
function readPace(body: string): { chunks: number; pauseMs: number } {
  const [, chunks = '200', pause = '5'] = /bench-(\d+)-(\d+)/.exec(body) ?? []
  return { chunks: Number(chunks), pauseMs: Number(pause) }
}

/** One chunk in each turn of the event loop, as fast as the reader takes them. */
function flood(response: ServerResponse, chunk: string, left: number, end: string): void {
  if (response.destroyed) return
  if (left === 0) response.end(end)
  else if (response.write(chunk)) setImmediate(flood, response, chunk, left - 1, end)
  else response.once('drain', () => flood(response, chunk, left - 1, end))
}

function stream(response: ServerResponse, body: string, isLlma: boolean): void {
  const { chunks, pauseMs } = readPace(body)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(isLlma ? opening : llmoDelta)
  const [chunk, end] = isLlma ? [delta, closing] : [llmoDelta, llmoClosing]
  if (pauseMs === 0) flood(response, chunk, chunks, end)
  else drip(response, { chunk, left: chunks, end, pauseMs })
}

type Drip = { chunk: string; left: number; end: string; pauseMs: number }

function drip(response: ServerResponse, { chunk, left, end, pauseMs }: Drip): void {
  let waiting = left
  const timer = setInterval(() => {
    waiting -= 1
    if (waiting >= 0) return void response.write(chunk)
    clearInterval(timer)
    response.end(end)
  }, pauseMs)
  response.once('close', () => clearInterval(timer))
}

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const isLlma = request.url?.includes('messages') === true
  if (body.includes('"stream":true')) {
    stream(response, body, isLlma)
    return
  }
  const wantsTool = body.includes('bench-tool') && !body.includes('tool_result')
  const whole = wantsTool ? llmaTool : llmaText
  const payload = isLlma ? whole : llmoText
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) })
  response.end(payload)
}

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => {
    body += chunk.toString('latin1')
  })
  request.on('end', () => answer(request, response, body))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` })
})
process.on('disconnect', () => process.exit(0))
