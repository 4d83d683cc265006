// A task as YAML or JSON.
import { type FormEvent, useEffect, useState } from 'react'
import { messageOf } from '../../../../src/errors.ts'
import { isJsonObject } from '../../../../src/lib/json.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { endless, isTree } from '../../parts/tree.ts'
import { writeYaml } from '../../parts/yaml-block.tsx'
import type { Creating, TaskBody } from './create-task.ts'
import './yaml-form.css'

export function YamlForm({ begin, creating }: { begin: object; creating: Creating }) {
  const [text, setText] = useState<string>()
  const [problem, setProblem] = useState<string>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: written once; from then on it is whoever types
  useEffect(() => {
    void writeYaml(JSON.parse(JSON.stringify(begin))).then(setText)
  }, [])
  if (text === undefined) return <Loading what="the form" />

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    const { parse } = await import('yaml')
    try {
      const value: unknown = parse(text ?? '')
      if (!isTree(value)) return setProblem(endless)
      if (!isJsonObject(value)) return setProblem('There must be fields with values here, such as "prompt: say hello".')
      setProblem(undefined)
      creating.create(value as TaskBody)
    } catch (error) {
      setProblem(messageOf(error))
    }
  }

  return (
    <form className="card stack form" onSubmit={(event) => void submit(event)}>
      {creating.error !== null && <Failure error={creating.error} />}
      <Field
        label="Task"
        hint="Fields of the spec may stand at the top. `svc explain task` lists all that there are."
        problem={problem}
      >
        {(control) => (
          <textarea
            {...control}
            className="input mono yaml-text"
            dir="ltr"
            spellCheck={false}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <div>
        <Button type="submit" look="main" busy={creating.isBusy}>
          Create task
        </Button>
      </div>
    </form>
  )
}
