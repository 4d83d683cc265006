// A model that answers at once, of the llmo family: what a turn costs is then the service's own. Also what a stream costs at least.
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

function respond(response: ServerResponse, isIdle: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  // An idle one says a word and then nothing more until the caller goes.
  if (isIdle) response.write(delta('Hm'))
  else response.end(answer)
}

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (part: string) => {
    text += part
  })
  request.on('end', () => respond(response, text.includes('"model":"idle"')))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.send?.({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}` })
})
process.on('disconnect', () => process.exit(0))
