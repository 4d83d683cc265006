// The run's model: the assignment's choices, with the addresses that it allows and the service's limits.

import type { ModelChoice, WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { ModelClient } from '../../llm/call/model.ts'
import { trustOf } from '../../llm/call/model-client.ts'
import { createModelRouter } from '../../llm/call/router.ts'
import type { TellWait } from '../../llm/loop/waits.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
import type { WorkerApi } from '../api.ts'
import type { WorkerDeps } from '../deps.ts'
import type { CallReports } from './call-reports.ts'
import { createRemoteRateLimits } from './rate-limits.ts'

export function openModel(
  { model, egress }: WorkAssignment,
  deps: WorkerDeps,
  service: { api: WorkerApi; reports: CallReports; onWait: TellWait },
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
    onEnd: (call) => service.reports.note(call),
  })
}
