// What a worker reports on file descriptor 3: JSON lines, the last one its outcome.
import { isJsonObject, tryParseJson } from '../../contract/schema/json.ts'

/**
 * The protocol of the worker program:
 * - it starts idle, without an assignment; once it is ready for one it writes `{"ready":true}` on descriptor 3;
 * - one line of JSON, the WorkAssignment, arrives on stdin, which then stays open: its end means that the service has died
 *   or released the worker, and the worker exits at once;
 * - stdout and stderr are log lines of the task;
 * - it ends with a WorkerOutcome on descriptor 3 and exit code 0 (its result is submitted) or 1 (failed, the reason is
 *   submitted). Anything else is a crash.
 */
export type WorkerOutcome = { ok: boolean; reason?: string; message?: string }

export type WorkerReport = { isReady: boolean; outcome: WorkerOutcome | undefined }

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, 4096) : undefined
}

function readOutcome(value: Record<string, unknown>): WorkerOutcome | undefined {
  if (typeof value.ok !== 'boolean') return undefined
  const reason = readText(value.reason)
  const message = readText(value.message)
  return { ok: value.ok, reason, message }
}

/** Adds one line to the report. A worker is not trusted: other lines are ignored. */
export function readReportLine(report: WorkerReport, line: string): WorkerReport {
  const value = tryParseJson(line)
  if (!isJsonObject(value)) return report
  return { isReady: report.isReady || value.ready === true, outcome: readOutcome(value) ?? report.outcome }
}
