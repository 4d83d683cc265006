// What else was asked for, beside the prompt, as YAML; shown where it differs.
import { useMemo } from 'react'
import type { TaskDetail } from '../../../../../src/contract/api/tasks/tasks.ts'
import { ComparedYaml } from '../../../parts/diff/compared-texts.tsx'

/** Without the prompt, which is compared by itself, and what the service set. */
function settingsOf({ spec }: TaskDetail): object {
  const { prompt: _prompt, command: _command, args: _args, requestedBy: _by, transaction: _transaction, ...rest } = spec
  if (rest.ai === undefined) return rest
  const { prompt: _inner, ...ai } = rest.ai
  return { ...rest, ai }
}

export function ComparedSettings({ a, b }: { a: TaskDetail; b: TaskDetail }) {
  const before = useMemo(() => settingsOf(a), [a])
  const after = useMemo(() => settingsOf(b), [b])
  return <ComparedYaml title="Settings" a={before} b={after} />
}
