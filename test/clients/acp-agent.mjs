// A small agent made with the SDK of the Agent Client Protocol: asks the model, asks for leave before each tool, keeps its
// sessions at home.
import { execSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk'

const { HOME = '', OPENAI_BASE_URL, OPENAI_API_KEY, SVC_AGENT_MODEL } = process.env
const fileOf = (id) => join(HOME, 'sessions', `${id}.json`)
const object = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
})
const tools = {
  write_file: {
    kind: 'edit',
    parameters: object('path', 'content'),
    run: ({ path, content }) => writeFileSync(path, content),
  },
  read_file: { kind: 'read', parameters: object('path'), run: ({ path }) => readFileSync(path, 'utf8') },
  run_command: { kind: 'execute', parameters: object('command'), run: ({ command }) => execSync(command) },
}

async function askModel(messages) {
  const offered = Object.entries(tools).map(([name, { parameters }]) => ({
    type: 'function',
    function: { name, parameters },
  }))
  const response = await fetch(`${OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${OPENAI_API_KEY}` },
    body: JSON.stringify({ model: SVC_AGENT_MODEL, messages, tools: offered }),
  })
  const body = await response.json()
  if (!response.ok) throw new RequestError(-32000, JSON.stringify(body))
  return body.choices[0].message
}

async function callTool({ client, sessionId }, { id, function: { name, arguments: text } }) {
  const { kind, run } = tools[name]
  const rawInput = JSON.parse(text)
  const locations = rawInput.path === undefined ? [] : [{ path: rawInput.path }]
  const tell = (update) =>
    client.notify(methods.client.session.update, { sessionId, update: { toolCallId: id, ...update } })
  await tell({ sessionUpdate: 'tool_call', title: name, kind, status: 'pending', rawInput, locations })
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ]
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId: id },
    options,
  })
  const isAllowed = outcome.outcome === 'selected' && outcome.optionId === 'yes'
  const output = isAllowed ? run(rawInput) : undefined
  await tell({ sessionUpdate: 'tool_call_update', status: isAllowed ? 'completed' : 'failed' })
  return isAllowed ? String(output ?? 'done') : 'not allowed'
}

async function prompt({ params: { sessionId, prompt: parts }, client }) {
  const messages = existsSync(fileOf(sessionId)) ? JSON.parse(readFileSync(fileOf(sessionId), 'utf8')) : []
  messages.push({ role: 'user', content: parts.map(({ text }) => text).join('\n') })
  for (;;) {
    const message = await askModel(messages)
    messages.push(message)
    if (!message.tool_calls?.length) break
    for (const call of message.tool_calls)
      messages.push({ role: 'tool', tool_call_id: call.id, content: await callTool({ client, sessionId }, call) })
  }
  mkdirSync(join(HOME, 'sessions'), { recursive: true })
  writeFileSync(fileOf(sessionId), JSON.stringify(messages))
  for (const text of messages.at(-1).content.split(/(?<= )/))
    await client.notify(methods.client.session.update, {
      sessionId,
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    })
  return { stopReason: 'end_turn' }
}

agent({ name: 'example' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { sessionCapabilities: { resume: {} } },
  }))
  .onRequest(methods.agent.session.new, () => ({ sessionId: randomUUID() }))
  .onRequest(methods.agent.session.resume, () => ({}))
  .onRequest(methods.agent.session.prompt, prompt)
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)))
