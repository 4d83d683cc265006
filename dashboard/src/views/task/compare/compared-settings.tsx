// What else was asked for, beside the prompt, as YAML; shown where it differs.
import { useEffect, useState } from 'react'
import type { TaskDetail } from '../../../../../src/contract/api/tasks/tasks.ts'
import { writeYaml } from '../../../parts/yaml-block.tsx'
import { ComparedTexts } from './compared-texts.tsx'

/** Without the prompt, which is compared by itself, and what the service set. */
function settingsOf({ spec }: TaskDetail): object {
  const { prompt: _prompt, command: _command, args: _args, requestedBy: _by, transaction: _transaction, ...rest } = spec
  if (rest.ai === undefined) return rest
  const { prompt: _inner, ...ai } = rest.ai
  return { ...rest, ai }
}

export function ComparedSettings({ a, b }: { a: TaskDetail; b: TaskDetail }) {
  const [texts, setTexts] = useState<readonly [string, string]>()
  useEffect(() => {
    let isCurrent = true
    void Promise.all([writeYaml(settingsOf(a)), writeYaml(settingsOf(b))]).then((written) => {
      if (isCurrent) setTexts(written)
    })
    return () => {
      isCurrent = false
    }
  }, [a, b])
  if (texts === undefined || texts[0] === texts[1]) return null
  return <ComparedTexts title="Settings" a={texts[0]} b={texts[1]} />
}
