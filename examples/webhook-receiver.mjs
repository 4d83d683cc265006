// Receives the callbacks of tasks and accepts only those that are signed with the secret of their namespace.
//   WEBHOOK_SECRET=<value> PORT=9000 node examples/webhook-receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const secret = process.env.WEBHOOK_SECRET
if (!secret) throw new Error('set WEBHOOK_SECRET to the value of the Secret svc-callback-signing')

/** Over the bytes that were received: parsed and printed again they may differ. */
function isSigned(body, signature = '') {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  if (!isSigned(body, request.headers['x-svc-signature-256'])) {
    response.writeHead(401).end()
    return
  }
  const { taskNamespace, taskName, phase } = JSON.parse(body)
  // The same delivery can come twice: X-Svc-Delivery, the uid of the task, tells.
  console.log(`${taskNamespace}/${taskName} ${phase} ${request.headers['x-svc-delivery']}`)
  response.writeHead(204).end()
})

server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => console.log(`listening on ${server.address().port}`))
