// Removes secrets from what a command leaves behind: its log lines, its output and the message of its end (SECRET-008).
import { createRedactor, type Redactor } from '../../observability/redaction.ts'
import type { CommandOutput } from '../../ports/tasks/workloads.ts'
import type { AttemptSink, RunningAttempt } from './attempt.ts'

export type Redaction = {
  sink: AttemptSink
  /** The attempt as its callers may see it. */
  wrap(attempt: RunningAttempt): RunningAttempt
}

export function redactAttempt(sink: AttemptSink, values: string[]): Redaction {
  const redact = createRedactor(values, 'tokens')
  return {
    sink: (lines) => sink(lines.map(redact)),
    wrap: (attempt) => ({
      ...attempt,
      ended: attempt.ended.then((end) => (end.ok ? end : { ...end, message: redact(end.message) })),
      readOutput: attempt.readOutput && redactOutput(attempt.readOutput, redact),
    }),
  }
}

function redactOutput(read: () => Promise<CommandOutput>, redact: Redactor): () => Promise<CommandOutput> {
  return async () => {
    const output = await read()
    return { ...output, text: redact(output.text) }
  }
}
