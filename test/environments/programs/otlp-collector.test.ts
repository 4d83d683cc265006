// Spans and metrics of a task, as a collector that others wrote reads them (scripts/install-collector.sh builds it).
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findPort } from '../../fixtures/free-port.ts'
import { waitFor } from '../../fixtures/time.ts'
import { makeFolder, removeFolder, type Service, startService, waitForPhase } from '../../scenarios/service.ts'

const program = join(homedir(), '.cache', 'svc-tools', 'otel-collector')
const isMissing = !existsSync(program)
const title = 'a collector of OpenTelemetry'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const callerSpan = 'b7ad6b7169203331'

/** It takes what comes with the right token, and prints all that it has read. */
const configOf = (port: number) => `
extensions: { bearertokenauth: { token: made-up } }
receivers: { otlp: { protocols: { http: { endpoint: 127.0.0.1:${port}, auth: { authenticator: bearertokenauth } } } } }
exporters: { debug: { verbosity: detailed, use_internal_logger: false } }
service:
  telemetry: { metrics: { level: none } }
  extensions: [bearertokenauth]
  pipelines:
    traces: { receivers: [otlp], exporters: [debug] }
    metrics: { receivers: [otlp], exporters: [debug] }
`

type Read = Record<string, string>

/** What stands behind names in a part of its text: `Name : chat m`, ` -> gen_ai.request.model: Str(m)`. */
function readFields(text: string): Read {
  const lines = text.split('\n').flatMap((line) => {
    const [, name, value] = /^ *(?:-> )?([\w. ]+?) *: (.*)$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(lines)
}

/** A blank line ends what came in one request. */
const partsOf = (text: string, head: RegExp) =>
  text
    .split(head)
    .slice(1)
    .map((part) => readFields(part.split('\n\n')[0] ?? ''))

const timeOf = (text = '') => Date.parse(text.replace(' +0000 UTC', 'Z').replace(' ', 'T'))

describe.skipIf(isMissing)(isMissing ? `${title} (sh scripts/install-collector.sh builds it)` : title, () => {
  const folder = makeFolder()
  let collector: ChildProcess
  let endpoint: string
  let printed = ''
  let weather: Server
  const weatherTraces: unknown[] = []

  beforeAll(async () => {
    weather = createServer((request, response) => {
      weatherTraces.push(request.headers.traceparent)
      response.end('it rains')
    })
    await new Promise<void>((resolve) => weather.listen(0, '127.0.0.1', resolve))
    const port = await findPort()
    endpoint = `http://127.0.0.1:${port}`
    const config = join(folder, 'collector.yaml')
    writeFileSync(config, configOf(port))
    collector = spawn(program, ['--config', config], { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    collector.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
    })
    collector.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    await waitFor(() => said.includes('Everything is ready') || collector.exitCode !== null, 'the collector')
    expect(collector.exitCode, said).toBeNull()
  })
  afterAll(() => {
    collector.kill()
    weather.close()
    removeFolder(folder)
  })

  /** A task that calls the tool twice, in a service of its own that ends with it. */
  async function runTask(token: string): Promise<Service> {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${token}` }
    const service = await startService({ flags: ['--allow-network', '127.0.0.0/8'], env })
    await service.call('POST', '/api/v1/providers', { name: 'script', spec: { type: 'demo' } })
    const url = `http://127.0.0.1:${(weather.address() as AddressInfo).port}/weather`
    const tool = { description: 'how it is', parameters: { type: 'object' }, http: { url, method: 'GET' } }
    await service.call('POST', '/api/v1/tools', { name: 'weather', spec: tool })
    type Seen = { status?: { available?: boolean } }
    const isThere = async () => (await service.call<Seen>('GET', '/api/v1/tools/weather')).body.status?.available
    await waitFor(isThere, 'the tool to be available')
    const ai = { tools: ['weather'], providerRef: { name: 'script' } }
    const prompt = 'call weather {"city":"Ulm"} then call weather {"city":"Bonn"}'
    const headers = {
      authorization: `Bearer ${service.token}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${callerSpan}-01`,
    }
    const body = JSON.stringify({ metadata: { name: 'traced' }, spec: { type: 'ai', prompt, ai } })
    expect((await fetch(`${service.url}/api/v1/tasks`, { method: 'POST', headers, body })).status).toBe(201)
    await waitForPhase(service, 'traced', 'Succeeded')
    await service.stop()
    removeFolder(service.folder)
    return service
  }

  it('reads one tree of spans below the caller, and the metrics of the calls, and no texts', async () => {
    await runTask('made-up')
    await waitFor(() => printed.includes('gen_ai.client.operation.duration'), 'the metrics')
    // Beside what is called, the conversation is saved again and again.
    const read = partsOf(printed, /^Span #\d+$/m)
    // One that is reported again is the same span.
    const spans = [...new Map(read.map((span) => [span.ID, span])).values()]
      .filter(({ Name }) => Name !== 'checkpoint')
      .toSorted((a, b) => timeOf(a['Start time']) - timeOf(b['Start time']))
    const below = (parent: string | undefined): unknown[] =>
      spans.filter((span) => span['Parent ID'] === parent).map((span) => [span.Name, ...below(span.ID)])
    const called = ['chat demo', ['execute_tool weather']]
    expect(below(callerSpan)).toEqual([['invoke_agent traced', called, called, ['chat demo']]])
    expect(new Set(spans.map((span) => span['Trace ID']))).toEqual(new Set([traceId]))
    const byId = new Map(spans.map((span) => [span.ID, span]))
    for (const span of spans) {
      expect(timeOf(span['End time'])).toBeGreaterThanOrEqual(timeOf(span['Start time']))
      const above = byId.get(span['Parent ID'])
      if (above !== undefined) expect(timeOf(span['Start time'])).toBeGreaterThanOrEqual(timeOf(above['Start time']))
    }
    const kinds = { invoke_agent: 'Internal', execute_tool: 'Internal', chat: 'Client' }
    for (const span of spans) {
      const operation = /^Str\((\w+)\)$/.exec(span['gen_ai.operation.name'] ?? '')?.[1] as keyof typeof kinds
      expect([span.Kind, span['Status code']]).toEqual([kinds[operation], 'Unset'])
    }
    const calls = spans.filter((span) => span.Name === 'execute_tool weather')
    // The service itself looks without one whether the tool is there.
    expect(weatherTraces.filter((one) => one !== undefined)).toEqual(calls.map(({ ID }) => `00-${traceId}-${ID}-01`))

    const points = partsOf(printed, /^(?:Metric #\d+$|HistogramDataPoints #\d+$)/m)
    const counts = points.filter((point) => point.Count !== undefined).map((point) => point.Count)
    // Tokens in and out, and the duration, of three calls each; what came before the end counted fewer.
    expect(counts.slice(-3)).toEqual(['3', '3', '3'])
    const metrics = points.filter((point) => point.Name !== undefined)
    expect(metrics.slice(-2)).toMatchObject([
      {
        Name: 'gen_ai.client.token.usage',
        Unit: '{token}',
        DataType: 'Histogram',
        AggregationTemporality: 'Cumulative',
      },
      { Name: 'gen_ai.client.operation.duration', Unit: 's', DataType: 'Histogram' },
    ])
    const sources = printed.match(/service\.instance\.id: Str\(.+\)/g) ?? []
    expect([sources.length > 1, new Set(sources).size]).toEqual([true, 1])
    expect(printed).not.toMatch(/Ulm|Bonn|it rains/)
  })

  it('takes nothing without the token of the owner, which the log of the service says', async () => {
    const before = printed
    const service = await runTask('wrong')
    expect(service.output()).toMatch(/answered 401.*the collector does not take what is sent/)
    expect(printed).toBe(before)
  })
})
