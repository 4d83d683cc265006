// What deliveries are processed with: ports, settings, and what other use cases do for them.
import type { DeliveryOutcome } from '../../../contract/api/codehost/deliveries.ts'
import type { CodeHostEvent } from '../../../contract/api/codehost/events.ts'
import type { Delivery } from '../../../ports/codehost/deliveries.ts'
import type { Ports } from '../../../ports/index.ts'
import type { CommandVerb } from '../../../rules/codehost/event-actions.ts'
import type { Withdrawal, Withdrawn } from '../../monitors/withdrawal.ts'
import type { ResourceUsecases } from '../../resources/resources.ts'
import type { WebhookSettings } from './settings.ts'

/** What became of an event at the monitors of its repository. */
export type QueuedRuns = Required<
  Pick<DeliveryOutcome, 'matchedMonitors' | 'monitorRunsQueued' | 'monitorRunsCached' | 'monitorRunsSkipped' | 'runIDs'>
>

export type TaskContext = {
  ports: Pick<Ports, 'resources' | 'secrets' | 'codeHosts'>
  resources: Pick<ResourceUsecases, 'create'>
  settings: WebhookSettings
}

export type DeliveryContext = TaskContext & {
  ports: TaskContext['ports'] & Pick<Ports, 'records' | 'clock' | 'ids'>
  /** Queues a run at the head of the event for each monitor that waits for it. The same delivery queues none twice. */
  queueRuns?(event: CodeHostEvent, delivery: string): Promise<QueuedRuns | undefined>
  /** Ends what the pull request of the event has started at monitors. */
  withdraw?(event: CodeHostEvent, what: Omit<Withdrawal, 'repository' | 'number'>): Promise<Withdrawn>
  /** Does what a comment asks for; absent: commands are ignored. */
  runCommand?(delivery: Delivery, verb: CommandVerb): Promise<DeliveryOutcome>
}

/** What one step adds to the outcome of a delivery. */
export type OutcomePart = Partial<DeliveryOutcome>
