// The resources of tasks that name none, from the settings: used both to start tasks and to prepare idle workers.
import type { Config } from '../config/load.ts'
import { parseQuantity } from '../contract/quantity.ts'
import type { WorkloadLimits } from '../ports/workloads.ts'

export function defaultLimitsOf(config: Config) {
  const { taskCpuRequest, taskMemoryRequest } = config
  const requests = {
    ...(taskCpuRequest === undefined ? {} : { cpu: parseQuantity(taskCpuRequest) }),
    ...(taskMemoryRequest === undefined ? {} : { memoryBytes: parseQuantity(taskMemoryRequest) }),
  }
  return {
    cpu: parseQuantity(config.taskCpu),
    memoryBytes: parseQuantity(config.taskMemory),
    diskBytes: parseQuantity(config.workspaceSize),
    ...(Object.keys(requests).length > 0 && { requests }),
  } satisfies WorkloadLimits
}
