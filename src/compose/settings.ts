// Settings of chat and of tasks, from the configuration.

import type { Config } from '../config/load.ts'
import { parseDuration } from '../contract/values/duration.ts'
import { parseQuantity } from '../contract/values/quantity.ts'
import type { ReviewMarkerSettings } from '../lookup/marker-keys.ts'
import type { WorkloadLimits } from '../ports/tasks/workloads.ts'
import { type ChatSettings, defaultChatSettings } from '../usecases/chat/settings.ts'

/** The resources of tasks that name none; used to start tasks and to prepare idle workers. */
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

/** The workspace of tasks in a git repository that name no size. */
export function checkoutLimitsOf({ gitWorkspaceSize, gitWorkspaceFiles }: Config) {
  return { diskBytes: parseQuantity(gitWorkspaceSize), diskFiles: gitWorkspaceFiles } satisfies WorkloadLimits
}

/** `ownNamespace`: where the service itself runs, if on a cluster (CHAT-038). */
export function readChatSettings(config: Config, ownNamespace: string | undefined): ChatSettings {
  return {
    ...defaultChatSettings,
    enabled: config.chatEnabled,
    provider: config.chatProvider,
    model: config.chatModel,
    maxIterations: config.chatMaxIterations,
    maxToolCalls: config.maxToolCallsPerTurn,
    maxDurationMs: parseDuration(config.chatMaxDuration),
    toolTimeoutMs: parseDuration(config.chatToolTimeout),
    maxConcurrent: config.chatMaxConcurrent,
    maxConcurrentPerNamespace: config.chatMaxConcurrentPerNamespace,
    maxConcurrentPerCaller: config.chatMaxConcurrentPerCaller,
    maxTasksPerTurn: config.chatMaxTasksPerTurn,
    maxSessionBytes: config.chatMaxSessionSize,
    blockedNamespaces: [
      ...new Set([...defaultChatSettings.blockedNamespaces, ...(ownNamespace ? [ownNamespace] : [])]),
    ],
  }
}

export function reviewMarkersOf(
  config: Config,
  { markerKeys }: { markerKeys: readonly Uint8Array[] },
): ReviewMarkerSettings {
  return {
    secret: config.prReviewMarkerSecret,
    previousSecrets: config.prReviewMarkerPreviousSecrets,
    trustedAuthor: config.prReviewMarkerTrustedAuthor,
    installation: markerKeys,
  }
}
