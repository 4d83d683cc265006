// A model that answers at once, or after a while, of the llmo family: what a turn costs is then the service's own. Also what a stream costs at least.
import { createServer, type ServerResponse } from 'node:http'

const delta = (content: string) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
const chunk = (part: object) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', ...part })}\n\n`

const answer =
  delta('All ') +
  delta('is ') +
  delta('well.') +
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
  chunk({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 3, total_tokens: 103 } }) +
  'data: [DONE]\n\n'

/** Callers that wait for more of an answer, and all that have asked so far. */
let waiting = 0
let calls = 0

/** Of the model `slow`. */
const slowMs = Number(process.argv[2] ?? 30_000)

function respond(response: ServerResponse, model: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  calls += 1
  if (model === 'instant') return void response.end(answer)
  // An idle one says a word and then nothing more until the caller goes.
  response.write(delta('Hm'))
  waiting += 1
  response.once('close', () => {
    waiting -= 1
  })
  if (model === 'slow') setTimeout(() => response.end(answer), slowMs)
}

const server = createServer((request, response) => {
  if (request.url === '/waiting') return void response.end(String(waiting))
  if (request.url === '/calls') return void response.end(String(calls))
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (part: string) => {
    text += part
  })
  request.on('end', () => respond(response, /"model":"(idle|slow)"/.exec(text)?.[1] ?? 'instant'))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` })
})
process.on('disconnect', () => process.exit(0))
