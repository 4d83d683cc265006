// What the work on deliveries needs, and what each part of it tells.
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../../contract/api/codehost/events.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import type { CommandVerb } from '../../../rules/codehost/command.ts'
import type { Withdrawal, Withdrawn } from '../../monitors/withdrawal.ts'
import type { TaskMaking } from './label-task.ts'

/** What became of an event at the monitors of its repository. */
export type QueuedRuns = Required<
  Pick<DeliveryOutcome, 'matchedMonitors' | 'monitorRunsQueued' | 'monitorRunsCached' | 'monitorRunsSkipped' | 'runIDs'>
>

export type CarryingOut = TaskMaking & {
  /** Queues a run at the head of the event for each monitor that waits for it. The same delivery queues none twice. */
  queueRuns?(event: CodeHostEvent, delivery: string): Promise<QueuedRuns | undefined>
  /** Ends what the pull request of the event has started at monitors. */
  withdraw?(event: CodeHostEvent, what: Omit<Withdrawal, 'repository' | 'number'>): Promise<Withdrawn>
  /** Does what a comment asks for. */
  obey?(delivery: Delivery, verb: CommandVerb): Promise<DeliveryOutcome>
}

export type Part = Partial<DeliveryOutcome>
