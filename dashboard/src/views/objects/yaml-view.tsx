// The draft as YAML. What is typed becomes the draft as soon as it can be read.
import { useEffect, useState } from 'react'
import { apiVersion } from '../../../../src/contract/kinds/resources/metadata.ts'
import type { Problem } from '../../../../src/errors.ts'
import { Field } from '../../parts/field.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Loading } from '../../parts/states.tsx'
import type { Manifest } from './object-kinds.ts'
import './yaml-view.css'

type YamlText = typeof import('./yaml-text.ts')

type YamlViewProps = {
  kind: string
  draft: Manifest
  problems: readonly Problem[]
  onChange: (draft: Manifest) => void
  onReadable: (isReadable: boolean) => void
}

/** The library for YAML comes with the first view of it. */
export function YamlView(props: YamlViewProps) {
  const [yaml, setYaml] = useState<YamlText>()
  useEffect(() => void import('./yaml-text.ts').then(setYaml), [])
  return yaml === undefined ? <Loading what="the YAML view" /> : <YamlArea {...props} yaml={yaml} />
}

function YamlArea({ kind, draft, problems, onChange, onReadable, yaml }: YamlViewProps & { yaml: YamlText }) {
  const [text, setText] = useState(() => yaml.writeManifest({ apiVersion, kind }, draft))
  const [problem, setProblem] = useState<string>()

  function take(next: string): void {
    const read = yaml.readManifest(next)
    setText(next)
    setProblem(read.problem)
    onReadable(read.problem === undefined)
    if (read.manifest !== undefined) onChange(read.manifest)
  }

  return (
    <>
      <Field label="YAML" problem={problem}>
        {(control) => (
          <textarea
            {...control}
            className="input mono yaml"
            dir="ltr"
            spellCheck={false}
            rows={Math.min(36, Math.max(14, text.split('\n').length + 1))}
            value={text}
            onChange={(event) => take(event.target.value)}
          />
        )}
      </Field>
      <ul>
        {problems.map(({ path, message }) => (
          <li key={`${path} ${message}`} className="problem">
            Line {yaml.lineOf(text, path)}: <Foreign text={message} />
          </li>
        ))}
      </ul>
    </>
  )
}
