// Slow things outside that parked tasks wait for, such as the checks of a pull request. The leader asks, so that no worker
// runs meanwhile.
//
// A tool waits by answering its call with `{ wait: { kind: 'probe', probe: NAME, call, what, args, until } }` (`park` of
// src/tools/coordination/worker/coordination-tool.ts). Its task is then parked until the probe of that name answers
// `arrived`, or until that time. Then the call is made again with `waited`: the tool looks for itself, and answers or,
// while `waited.until` is ahead, waits again with the same end.

import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { JsonObject } from '../../contract/schema/json.ts'

export type ProbeAnswer = 'waiting' | 'arrived'

/**
 * Asks once, within 30 seconds. `args` come from a worker: the probe itself decides what this task may ask for. Answers
 * `arrived` also where asking again is of no use (what is waited for is gone, or forbidden), so that the tool can say so. A
 * rejection counts as `waiting`.
 */
export type Probe = (asked: { task: Task; args: JsonObject }, signal: AbortSignal) => Promise<ProbeAnswer>

/** By the names that waits have for them. */
export type Probes = Readonly<Record<string, Probe>>
