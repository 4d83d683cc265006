// What a monitor knows of a pull request, and what people are told of it.
import type { MonitorEvent, MonitorItem, MonitorReviewRecord } from '../../contract/api/monitors/monitor-records.ts'
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'

/** What a monitor knows of one pull request; events are the newest first. */
export type Story = {
  monitor: RepositoryMonitor
  number: number
  item?: MonitorItem | undefined
  review?: MonitorReviewRecord | undefined
  events: readonly MonitorEvent[]
}

export type Told = { what: string; todo?: string | undefined }

const longestQuote = 300

/** One line of what a model, a repository or the code host wrote. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= longestQuote ? line : `${line.slice(0, longestQuote)}…`
}
