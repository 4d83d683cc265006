// An object as YAML, as `svc get -o yaml` shows it. The writer is fetched when it is first needed.
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { ForeignBlock } from './foreign.tsx'
import { copyText } from './save-file.ts'
import { Loading } from './states.tsx'

export async function writeYaml(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
}

export function YamlBlock({ value, label }: { value: unknown; label: string }) {
  const [text, setText] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    void writeYaml(value).then((written) => {
      if (isCurrent) setText(written)
    })
    return () => {
      isCurrent = false
    }
  }, [value])
  if (text === undefined) return <Loading what={label} />
  return (
    <div className="stack">
      <div className="row">
        <Button onClick={() => void copyText(text, label)}>Copy</Button>
      </div>
      <ForeignBlock label={label} text={text} />
    </div>
  )
}
