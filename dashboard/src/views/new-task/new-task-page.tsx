// A new task: by a few fields, or as YAML with everything that a task can have.
import { useState } from 'react'
import { useLocation } from 'react-router'
import { createTask, getTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { useObject } from '../../data/records.ts'
import { Page } from '../../parts/page.tsx'
import { Permitted } from '../../parts/permitted.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { type TaskBody, useCreate } from './create-task.ts'
import { SimpleForm } from './simple-form.tsx'
import { bodyOf, cloneOf, emptyDraft, type TaskDraft } from './task-draft.ts'
import { YamlForm } from './yaml-form.tsx'

const ways = [
  { name: '', title: 'Simple' },
  { name: 'yaml', title: 'YAML' },
]

/** Four letters or digits, so that two tasks have two names. */
function makeSuffix(): string {
  return crypto.randomUUID().slice(0, 4)
}

export default function NewTaskPage() {
  const [parameters] = useParameters()
  const from = /^([^/]+)\/([^/]+)$/.exec(parameters.get('from') ?? '')
  if (from === null) return <NewTask />
  return <ClonedTask namespace={from[1] ?? ''} name={from[2] ?? ''} isRetry={parameters.has('retry')} />
}

type ClonedProps = { namespace: string; name: string; isRetry: boolean }

function ClonedTask({ namespace, name, isRetry }: ClonedProps) {
  const task = useObject('Task', getTask, { namespace, name })
  const creating = useCreate(isRetry ? name : undefined)
  const [suffix] = useState(makeSuffix)
  return (
    <Page title={isRetry ? `Edit and retry ${name}` : `New task, as ${name}`}>
      {task.error !== null && <Failure error={task.error} />}
      {task.isLoading && <Loading what="the task" />}
      {task.data !== undefined && (
        <Permitted to={createTask} what="create tasks">
          <YamlForm begin={cloneOf(task.data, suffix)} creating={creating} />
        </Permitted>
      )}
    </Page>
  )
}

function NewTask() {
  const [parameters] = useParameters()
  const { home } = useScope()
  // The page of an agent begins a task for it.
  const { agent, hasProgram: isProgram = false } = (useLocation().state ?? {}) as {
    agent?: string
    hasProgram?: boolean
  }
  const [draft, setDraft] = useState((): TaskDraft => ({ ...emptyDraft(home), ...(agent && { sort: 'agent', agent }) }))
  const [hasProgram, setHasProgram] = useState(isProgram)
  const [suffix] = useState(makeSuffix)
  const creating = useCreate()
  const body = bodyOf(draft, { hasProgram, suffix })
  return (
    <Page title="New task">
      <Permitted to={createTask} what="create tasks">
        <Tabs label="How to write it" tabs={ways} />
        {parameters.get('tab') === 'yaml' ? (
          <YamlForm begin={body} creating={creating} />
        ) : (
          <SimpleForm
            draft={draft}
            onChange={setDraft}
            onAgent={setHasProgram}
            creating={creating}
            onSubmit={() => creating.create(body as TaskBody)}
          />
        )}
      </Permitted>
    </Page>
  )
}
