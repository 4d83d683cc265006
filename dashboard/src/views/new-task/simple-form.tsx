// The few fields that most tasks need.
import type { FormEvent } from 'react'
import { useObjects } from '../../data/lists.ts'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { type Problems, readProblems } from '../../parts/problems.ts'
import { useScope } from '../../parts/scope.ts'
import { Failure } from '../../parts/states.tsx'
import { TextField } from '../../parts/text-field.tsx'
import type { Creating } from './create-task.ts'
import { type DraftSort, draftPaths, draftSorts, type TaskDraft } from './task-draft.ts'
import './simple-form.css'
import { TextArea } from '../../parts/text-area.tsx'

type SimpleFormProps = {
  draft: TaskDraft
  onChange: (draft: TaskDraft) => void
  /** Whether the agent that was chosen has a program of its own. */
  onAgent: (hasProgram: boolean) => void
  creating: Creating
  onSubmit: () => void
}

const sortTitles: Record<DraftSort, string> = {
  ask: 'Ask a model',
  agent: 'Give it to an agent',
  command: 'Run a command',
}

export function SimpleForm({ draft, onChange, onAgent, creating, onSubmit }: SimpleFormProps) {
  const problems = readProblems(creating.error, draftPaths)
  const set = (changes: Partial<TaskDraft>) => onChange({ ...draft, ...changes })
  const parts = { draft, set, problems }
  function submit(event: FormEvent): void {
    event.preventDefault()
    onSubmit()
  }
  return (
    <form className="card stack form" onSubmit={submit}>
      {problems.hasOthers && <Failure error={creating.error} />}
      <fieldset className="row choices">
        <legend className="visually-hidden">What to do</legend>
        {draftSorts.map((sort) => (
          <label key={sort} className="row">
            <input type="radio" name="sort" checked={draft.sort === sort} onChange={() => set({ sort })} />
            {sortTitles[sort]}
          </label>
        ))}
      </fieldset>
      {draft.sort === 'agent' && <AgentField {...parts} onAgent={onAgent} />}
      {draft.sort === 'command' ? <CommandFields {...parts} /> : <PromptField {...parts} />}
      <details open={problems.of('name', 'namespace', 'timeout', 'schedule') !== undefined}>
        <summary>Name, namespace, time limit, schedule</summary>
        <MoreFields {...parts} />
      </details>
      <div>
        <Button type="submit" look="main" busy={creating.isBusy}>
          Create task
        </Button>
      </div>
    </form>
  )
}

type PartProps = { draft: TaskDraft; set: (changes: Partial<TaskDraft>) => void; problems: Problems }

function AgentField({ draft, set, problems, onAgent }: PartProps & { onAgent: (hasProgram: boolean) => void }) {
  const { isFixed, query } = useScope()
  const agents = useObjects('Agent', isFixed ? query : { namespace: draft.namespace })
  function choose(name: string): void {
    const found = agents.items.find(({ metadata }) => metadata.name === name)
    onAgent(found?.spec?.runtime !== undefined)
    set({ agent: name })
  }
  return (
    <Field
      label="Agent"
      isRequired
      problem={problems.of('agentRef')}
      hint={agents.items.length === 0 ? `There are no agents in ${draft.namespace} yet: create one first.` : undefined}
    >
      {(control) => (
        <select
          {...control}
          className="input"
          required
          value={draft.agent}
          onChange={(event) => choose(event.target.value)}
        >
          <option value="">Choose one</option>
          {agents.items.map(({ metadata }) => (
            <option key={metadata.uid}>{metadata.name}</option>
          ))}
        </select>
      )}
    </Field>
  )
}

function PromptField({ draft, set, problems }: PartProps) {
  return (
    <Field label="Prompt" isRequired problem={problems.of('prompt', 'ai')} hint="All that it must know.">
      {(control) => (
        <TextArea
          {...control}
          className="prompt-text"
          required
          value={draft.prompt}
          onText={(prompt) => set({ prompt })}
        />
      )}
    </Field>
  )
}

function CommandFields({ draft, set, problems }: PartProps) {
  return (
    <>
      <Field label="Command" isRequired problem={problems.of('command')} hint="Lines for a shell (sh).">
        {(control) => (
          <textarea
            {...control}
            className="input mono prompt-text"
            dir="ltr"
            required
            spellCheck={false}
            value={draft.command}
            onChange={(event) => set({ command: event.target.value })}
          />
        )}
      </Field>
      <TextField
        label="Container image"
        problem={problems.of('image')}
        hint="Without one it runs in a local sandbox."
        className="mono"
        dir="ltr"
        placeholder="python:3.12-slim"
        value={draft.image}
        onText={(image) => set({ image })}
      />
    </>
  )
}

const moreFields = [
  { key: 'name', label: 'Name', hint: 'Without one it is made of the first words.' },
  { key: 'namespace', label: 'Namespace', hint: undefined },
  { key: 'timeout', label: 'Time limit', hint: 'Such as 30s, 10m or 2h.' },
  { key: 'schedule', label: 'Schedule', hint: 'Five cron fields, such as 0 7 * * 1-5: then each run is a task.' },
] as const

function MoreFields({ draft, set, problems }: PartProps) {
  const { isFixed } = useScope()
  return (
    <div className="grid more-fields">
      {moreFields.map(({ key, label, hint }) => (
        <TextField
          key={key}
          label={label}
          hint={hint}
          problem={problems.of(key)}
          disabled={key === 'namespace' && isFixed}
          value={draft[key]}
          onText={(text) => set({ [key]: text })}
        />
      ))}
    </div>
  )
}
