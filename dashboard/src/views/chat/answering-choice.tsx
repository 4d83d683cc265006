// Who answers: an agent, a provider, a model. Nothing chosen: what answered last, else the default of the service.
import { useId, useState } from 'react'
import { useObjects } from '../../data/lists.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { TextField } from '../../parts/text-field.tsx'

export type Answering = { agentRef?: string; provider?: string; model?: string }

type ChoiceProps = {
  namespace: string
  answering: Answering
  /** What answered the last turn. */
  last: string | undefined
  onChange: (answering: Answering) => void
}

/** Without what is empty: the service takes a name or nothing. */
function tidy(answering: Answering): Answering {
  return Object.fromEntries(Object.entries(answering).filter(([, value]) => value.trim() !== ''))
}

function describe({ agentRef, provider, model }: Answering): string | undefined {
  const parts = [agentRef, provider, model].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join(' · ')
}

export function AnsweringChoice({ namespace, answering, last, onChange }: ChoiceProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <div className="answering">
      <Button look="plain" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        {describe(answering) ?? last ?? 'Default model'} ▾
      </Button>
      {isOpen && (
        <div id={id} className="answering-fields">
          <Choices namespace={namespace} answering={answering} onChange={(next) => onChange(tidy(next))} />
        </div>
      )}
    </div>
  )
}

type ChoicesProps = Omit<ChoiceProps, 'last'>

function Choices({ namespace, answering, onChange }: ChoicesProps) {
  const agents = useObjects('Agent', { namespace })
  const providers = useObjects('Provider', { namespace })
  const models = [...new Set(providers.items.flatMap(({ spec }) => spec?.defaultModel ?? []))]
  const list = useId()
  return (
    <>
      <Names
        label="Agent"
        value={answering.agentRef}
        names={agents.items.map(({ metadata }) => metadata.name)}
        onChange={(agentRef) => onChange({ ...answering, agentRef })}
      />
      <Names
        label="Provider"
        value={answering.provider}
        names={providers.items.map(({ metadata }) => metadata.name)}
        onChange={(provider) => onChange({ ...answering, provider })}
      />
      <TextField
        label="Model"
        list={list}
        placeholder="As the provider has it"
        value={answering.model ?? ''}
        onText={(model) => onChange({ ...answering, model })}
      />
      <datalist id={list}>
        {models.map((model) => (
          <option key={model} value={model} />
        ))}
      </datalist>
    </>
  )
}

type NamesProps = { label: string; value: string | undefined; names: string[]; onChange: (name: string) => void }

function Names({ label, value = '', names, onChange }: NamesProps) {
  return (
    <Field label={label}>
      {(control) => (
        <select {...control} className="input" value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">Not chosen</option>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
    </Field>
  )
}
