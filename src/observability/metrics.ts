// Metrics in their own registry; labels are route patterns, phases and fixed words, never a user's text (HTTP-042).
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'
import {
  type CountedUsage,
  createProxyObserver,
  createUsageCounter,
  type KnownProvider,
  type ProxyMeasure,
} from './call-metrics.ts'
import { type CounterSeries, createCounter, createHistogram, createMemo, type HistogramSeries } from './tallies.ts'
import { createTaskObserver, type TaskMeasure, type TaskWords } from './task-metrics.ts'

type RequestSample = { endpoint: string; method: string; status: number; seconds: number }

/** Read when the metrics are requested; absent ones are left out. */
export type MetricSources = {
  /** Names waiting in the controllers' queues. */
  queueDepth?: () => number
  /** Worker processes by state. */
  attempts?: () => Promise<{ own: number; shared: number }>
  /** Number of tasks, by phase. */
  taskPhases?: () => Promise<Record<string, number>> | Record<string, number>
  /** Bytes of the record store. */
  storeBytes?: () => Promise<number> | number
  /** Requests sent to the cluster's API server so far. */
  clusterRequests?: () => { verb: string; resource: string; count: number }[]
  /** The existing providers. */
  providers?: () => Promise<KnownProvider[]>
  /** Kinds of resources whose watch is currently broken. */
  staleKinds?: () => number
}

export { type CountedUsage, type KnownProvider, otherProvider } from './call-metrics.ts'

export type Metrics = {
  /** One answered request. */
  observeRequest(sample: RequestSample): void
  /** An event stream was opened; call the returned function when it ends. */
  trackStream(): () => void
  /** A proxied request ended. */
  observeProxy(measure: ProxyMeasure): void
  /** The status of a task changed. */
  observeTask(measure: TaskMeasure): void
  /** A model call, or several of one provider, was recorded. */
  countUsage(usage: CountedUsage): void
  countTimelineEvents(count: number): void
  /** A vendor sent a word that is not known; `kind` is a word of the service. */
  countUnknown(found: { kind: string }): void
  /** A delivery of the code host's webhook came; both are words of the service. */
  countDelivery(delivery: { event: string; result: string }): void
  /** A context token was checked. */
  countContextToken(result: string): void
  /** A context token's scopes and constraints were evaluated. */
  countContextAuthorization(decision: { action: string; result: string; reason: string }): void
  /** A token was exchanged, or the exchange failed. */
  observeTokenExchange(exchange: { result: string; reason: string; ms: number }): void
  /** Something held the event loop; all words of the service. */
  countStall(stall: { kind: string; route?: string }): void
  /** Sets the sources of gauges; later calls add to earlier ones. */
  attach(sources: MetricSources): void
  /** The text that Prometheus scrapes. */
  expose(): Promise<{ contentType: string; text: string }>
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

function makeCounters(registry: Registry) {
  const registers = [registry]
  return {
    streams: new Gauge({
      name: 'svc_execution_event_stream_connections_current',
      help: 'Event streams that are open now.',
      registers,
    }),
    events: new Counter({
      name: 'svc_execution_events_appended_total',
      help: 'Timeline events written.',
      registers,
    }),
    stalls: new Counter({
      name: 'svc_event_loop_stalls_total',
      help: 'Times that work held the event loop longer than half a second, so that nothing else was served.',
      labelNames: ['kind', 'route'],
      registers,
    }),
    deliveries: new Counter({
      name: 'svc_webhook_deliveries_total',
      help: 'Deliveries of the webhook of the code host.',
      labelNames: ['event', 'result'],
      registers,
    }),
    unknown: new Counter({
      name: 'svc_provider_unknown_words_total',
      help: 'Words in answers of providers that are not known: ends, frames, blocks, bodies. The log names each once.',
      labelNames: ['kind'],
      registers,
    }),
  }
}

function makeIdentityCounters(registry: Registry) {
  const registers = [registry]
  return {
    contextTokens: new Counter({
      name: 'svc_context_token_auth_total',
      help: 'Context tokens that were checked.',
      labelNames: ['profile', 'result'],
      registers,
    }),
    authorizations: new Counter({
      name: 'svc_context_token_authorization_total',
      help: 'Decisions by the scopes and constraints of context tokens.',
      labelNames: ['action', 'result', 'reason'],
      registers,
    }),
    exchanges: new Counter({
      name: 'svc_context_token_tts_exchange_total',
      help: 'Exchanges requested from the transaction-token service.',
      labelNames: ['result', 'reason'],
      registers,
    }),
    exchangeDurations: new Histogram({
      name: 'svc_context_token_tts_exchange_duration_seconds',
      help: 'Time that an exchange took.',
      labelNames: ['result', 'reason'],
      buckets,
      registers,
    }),
  }
}

function makeGauges(registry: Registry, sources: MetricSources): void {
  const registers = [registry]
  new Gauge({
    name: 'svc_queue_depth',
    help: 'Names waiting in the queues of the controllers.',
    registers,
    collect() {
      if (sources.queueDepth) this.set(sources.queueDepth())
    },
  })
  new Gauge({
    name: 'svc_attempts',
    help: 'Attempts that run, by whether they have a process of their own or share one.',
    labelNames: ['isolation'],
    registers,
    async collect() {
      for (const [isolation, count] of Object.entries((await sources.attempts?.()) ?? {}))
        this.set({ isolation }, count)
    },
  })
  new Gauge({
    name: 'svc_tasks',
    help: 'Number of tasks, by phase.',
    labelNames: ['phase'],
    registers,
    async collect() {
      for (const [phase, count] of Object.entries((await sources.taskPhases?.()) ?? {})) this.set({ phase }, count)
    },
  })
  new Gauge({
    name: 'svc_store_db_size_bytes',
    help: 'Size of the record store.',
    registers,
    async collect() {
      if (sources.storeBytes) this.set(await sources.storeBytes())
    },
  })
  new Gauge({
    name: 'svc_cluster_stale_kinds',
    help: 'Kinds of resources whose watch is broken: what is known about them may be outdated.',
    registers,
    collect() {
      if (sources.staleKinds) this.set(sources.staleKinds())
    },
  })
  new Counter({
    name: 'svc_cluster_requests_total',
    help: "Requests sent to the cluster's API server.",
    labelNames: ['verb', 'resource'],
    registers,
    collect() {
      // The API client keeps the count; its current value replaces the previous one.
      this.reset()
      for (const { verb, resource, count } of sources.clusterRequests?.() ?? []) this.inc({ verb, resource }, count)
    },
  })
}

/** One answered request, on any path. */
function createRequestObserver(registry: Registry): Metrics['observeRequest'] {
  const requests = createCounter(registry, { name: 'svc_api_requests_total', help: 'Requests answered.' })
  const durations = createHistogram(registry, {
    name: 'svc_api_request_duration_seconds',
    help: 'Time from the request to the end of its answer.',
    buckets,
  })
  const requestSeries = createMemo<CounterSeries>()
  const durationSeries = createMemo<HistogramSeries>()
  return ({ endpoint, method, status, seconds }) => {
    const route = `${method} ${endpoint}`
    durationSeries(route, () => durations.series({ endpoint, method })).observe(seconds)
    requestSeries(`${status} ${route}`, () => requests.series({ endpoint, method, status: String(status) })).add(1)
  }
}

/**
 * A metric without any counts yet is one series with the value zero, so that a rule or a panel reads a
 * number from the first scrape on.
 */
function fillEmpty(text: string): string {
  return text.replace(/^# TYPE (\S+) (\S+)\n(?=\n|# |$)/gm, (line, name: string, type: string) => {
    const suffixes = type === 'histogram' ? ['_bucket{le="+Inf"}', '_sum', '_count'] : ['']
    return `${line}${suffixes.map((suffix) => `${name}${suffix} 0\n`).join('')}`
  })
}

/** The lag of the event loop is not a number, and its least one is that of an empty histogram, until it is first measured. */
function dropUnmeasured(text: string): string {
  return text.replace(/^nodejs_eventloop_lag_\S+ (Nan|9223372036\.\d+)\n/gm, '')
}

const noWords: TaskWords = { types: [], phases: [], endPhases: [] }

/** `words`: the types and phases of tasks, for series that exist from the first scrape on. */
export function createMetrics(words: TaskWords = noWords): Metrics {
  const registry = new Registry()
  const sources: MetricSources = {}
  const { streams, events, stalls, deliveries, unknown } = makeCounters(registry)
  const usage = createUsageCounter(registry)
  const { contextTokens, authorizations, exchanges, exchangeDurations } = makeIdentityCounters(registry)
  makeGauges(registry, sources)
  let defaults: Promise<void> | undefined
  return {
    observeRequest: createRequestObserver(registry),
    trackStream() {
      streams.inc()
      return () => streams.dec()
    },
    observeProxy: createProxyObserver(registry),
    observeTask: createTaskObserver(registry, words),
    countUsage: usage.count,
    countTimelineEvents: (count) => events.inc(count),
    countUnknown: ({ kind }) => unknown.inc({ kind }),
    countStall: ({ kind, route = '' }) => stalls.inc({ kind, route }),
    countDelivery: (delivery) => deliveries.inc({ ...delivery }),
    countContextToken: (result) => contextTokens.inc({ profile: 'kontxt', result }),
    countContextAuthorization: ({ action, result, reason }) => authorizations.inc({ action, result, reason }),
    observeTokenExchange({ result, reason, ms }) {
      exchanges.inc({ result, reason })
      exchangeDurations.observe({ result, reason }, ms / 1000)
    },
    attach: (more) => void Object.assign(sources, more),
    async expose() {
      // The process metrics start observers; those start with the first scrape, not with the service.
      defaults ??= import('prom-client/lib/defaultMetrics.js').then(({ default: collect }) =>
        collect({ register: registry }),
      )
      await defaults
      for (const provider of (await sources.providers?.()) ?? []) usage.show(provider)
      return { contentType: registry.contentType, text: fillEmpty(dropUnmeasured(await registry.metrics())) }
    },
  }
}
