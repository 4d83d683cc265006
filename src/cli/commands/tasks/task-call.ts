// What the commands about one task are given.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { namespaceQuery } from '../../global-options.ts'

export type TaskCall = {
  client: Client
  options: GlobalOptions
  context: CliContext
  /** Options of the command. */
  flags: Record<string, unknown>
  /** Arguments after the name. */
  more: string[]
}
export type TaskAction = (call: TaskCall, name: string) => Promise<void>
export type AddTaskCommand = (usage: string, description: string, action: TaskAction) => Command

/** Also accepts the form that `-o name` prints. */
export function readTaskName(text: string): string {
  return text.replace(/^task\//, '')
}

/** The task of that name, as routes name it. */
export function taskTargetOf(name: string, options: GlobalOptions) {
  return { params: { id: name }, query: namespaceQuery(options) }
}
