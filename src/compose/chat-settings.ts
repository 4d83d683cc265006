// The `--chat-*` flags as the limits of chat.
import type { Config } from '../config/load.ts'
import { parseDuration } from '../contract/duration.ts'
import { type ChatSettings, defaultChatSettings } from '../usecases/chat/settings.ts'

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
