// The run's model: the assignment's choices, with the addresses that it allows, under the shared rate limits of providers and
// of the agent, which are requested over the worker API (PROV-009, PROV-010).
import type { ModelChoice, WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ModelClient, OnWait } from '../../llm/call/model-client.ts'
import { trustOf } from '../../llm/call/provider-client.ts'
import { createModelRouter, type RouterDeps } from '../../llm/call/router.ts'
import type { LoopTrace } from '../../llm/trace/loop-trace.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
import type { WorkerApi } from '../api.ts'
import type { WorkerDeps } from '../deps.ts'
import type { CallReports } from './reports.ts'

export function createRunModel(
  { model, egress }: WorkAssignment,
  deps: WorkerDeps,
  service: { api: WorkerApi; reports: CallReports; trace: LoopTrace; onWait: OnWait },
): ModelClient {
  return createModelRouter(model.choices, {
    egress: deps.egress,
    policyFor: ({ provider }: ModelChoice): EgressPolicy => ({
      ...egress,
      ...(provider.allowedHosts === undefined ? {} : { allowedHosts: provider.allowedHosts }),
      ...trustOf(provider),
    }),
    clock: deps.clock,
    random: () => deps.ids.random(),
    agent: model.agent,
    rateLimits: createRemoteRateLimits(service.api, deps.clock),
    onWait: service.onWait,
    onBegin: service.trace.noteBegin,
    onEnd: (call) => {
      service.reports.note(call)
      service.trace.noteEnd(call)
    },
    onUnknown: (found) => service.reports.noteUnknown(found),
  })
}

/** The service knows the limits and keeps the buckets; it grants nothing for a provider in a cool-down. */
function createRemoteRateLimits(api: WorkerApi, clock: Clock): RouterDeps['rateLimits'] {
  return {
    async take({ kind, ...key }, want) {
      const { granted, tokens, retryAfterMs } = await api.takeLease(key, { ...want, ...(kind && { kind }) })
      return granted ? { granted, tokens } : { granted, retryAfterMs }
    },
    async settle({ kind, ...key }, tokens) {
      if (tokens === 0) return
      await api.takeLease(key, { requests: 0, tokens: Math.ceil(tokens), ...(kind && { kind }) })
    },
    async coolDown(provider, { until, reason, ...pause }) {
      const seconds = Math.min(86_400, Math.max(0, (until.getTime() - clock.now().getTime()) / 1000))
      await api.coolDown(provider, { ...pause, seconds, reason: reason.slice(0, 1024) })
    },
    async coolingDown(provider, model) {
      const { coolingDown } = await api.peekLimit(provider, model)
      if (coolingDown === undefined) return undefined
      const { forMs, ...pause } = coolingDown
      return { ...pause, until: new Date(clock.now().getTime() + forMs) }
    },
  }
}
