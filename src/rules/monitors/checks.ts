// The validation commands: whether they run, as what, and what each of them showed.
import { createHash } from 'node:crypto'
import type { ValidationOutcome } from '../../contract/api/monitors/monitor-records.ts'
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'

type Of = { monitor: Pick<RepositoryMonitor, 'metadata'>; pullRequest: { headSHA: string }; runID: string }

/** The word between the outputs, which no command knows when the monitor is written. */
export function fenceOf({ monitor, pullRequest, runID }: Of): string {
  return createHash('sha256')
    .update(`${monitor.metadata.uid} ${runID} ${pullRequest.headSHA}`)
    .digest('hex')
    .slice(0, 16)
}

/** Runs every command, whatever came of the ones before; ends with 1 when one of them failed. */
export function writeCheckCommand(commands: readonly string[], fence: string): string[] {
  const mark = `printf '\\n%s %s %s\\n' "$0"`
  const script = `echo "$0 begin"; failed=0; at=0; for command; do sh -c "$command" 2>&1; code=$?; ${mark} "$at" "$code"; [ "$code" = 0 ] || failed=1; at=$((at + 1)); done; exit "$failed"`
  return ['sh', '-c', script, fence, ...commands]
}

/** What such a command line was made of. */
export function readCheckCommand([, , , fence = '', ...commands]: readonly string[]) {
  return { fence, commands }
}

const maxOutputLength = 4000

export type CheckLog = {
  /** One line of the log, in order. */
  read(line: string): void
  /** `begun`: false when not even the first command was started. */
  end(): { begun: boolean; outcomes: ValidationOutcome[] }
}

/**
 * Reads what each command showed, of which the end is kept. A command may print anything, marks as well, so that only the end of the
 * task says whether all of them passed.
 */
export function createCheckLog(commands: readonly string[], fence: string): CheckLog {
  const outcomes: ValidationOutcome[] = commands.map((command) => ({ command, output: '' }))
  const mark = new RegExp(`^${fence} (\\d+) (\\d+)$`)
  let begun = false
  let at = 0
  let text = ''

  function close(exitCode?: number): void {
    const outcome = outcomes[at]
    if (outcome !== undefined)
      outcomes[at] = { ...outcome, output: text.trim(), ...(exitCode !== undefined && { exitCode }) }
    text = ''
  }

  return {
    read(line) {
      if (line === `${fence} begin`) {
        begun = true
        // What the service said before.
        text = ''
        return
      }
      const [, index, code] = mark.exec(line) ?? []
      if (index === undefined || Number(index) < at || Number(index) >= outcomes.length) {
        text = `${text}\n${line}`.slice(-maxOutputLength)
        return
      }
      // Later than the next one where the oldest lines were no longer kept.
      begun = true
      at = Number(index)
      close(Number(code))
      at += 1
    },
    end() {
      if (begun) close()
      return { begun, outcomes }
    },
  }
}

const documentation =
  /(^|\/)(docs?|documentation)\/|\.(md|mdx|txt|rst|adoc|png|jpe?g|gif|svg)$|(^|\/)(LICENSE|CHANGELOG|NOTICE)[^/]*$/i

/** Why the validation commands do not run; undefined: they do. */
export function findValidationReason(
  { validation }: RepositoryMonitor['spec'],
  paths: readonly string[],
): string | undefined {
  if ((validation.commands ?? []).length === 0) return 'the monitor has no validation commands'
  if (validation.mode === 'off') return 'validation is off'
  if (validation.mode === 'changed' && paths.length > 0 && paths.every((path) => documentation.test(path))) {
    return 'only documentation changed'
  }
  return undefined
}
