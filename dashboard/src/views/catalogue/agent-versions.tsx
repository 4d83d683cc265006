// What an agent told its model in the course of time: its versions, how the runs of each went, and what differs between two.
import { useMemo } from 'react'
import type { AgentVersion, AgentVersionContent } from '../../../../src/contract/api/agents/agents.ts'
import { listTasks } from '../../../../src/contract/api/tasks/tasks.ts'
import { findVersionAt, startOfRun, useAgentVersions } from '../../data/agent-versions.ts'
import { useSum } from '../../data/sums.ts'
import { Choice } from '../../parts/choice.tsx'
import { ComparedTexts, ComparedYaml } from '../../parts/diff/compared-texts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import type { TaskRow } from '../../parts/task-columns.tsx'
import { Ago } from '../../parts/time.tsx'
import { formatCount } from '../../parts/usage-facts.tsx'
import { YamlBlock } from '../../parts/yaml-block.tsx'

/** Runs that are counted, the newest. */
const countedRuns = 500

type AgentPlace = { namespace: string; name: string }

type VersionRow = { version: AgentVersion; changed: string; runs: number; succeeded: number; failed: number }

const words: Record<keyof AgentVersionContent, string> = {
  prompt: 'prompt',
  promptFrom: 'config map',
  providerRef: 'provider',
  model: 'model',
  program: 'program',
  tools: 'tools',
  skills: 'skills',
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

function describeChange({ content }: AgentVersion, before: AgentVersion | undefined): string {
  if (before === undefined) return ''
  const changed = Object.entries(words).filter(([key]) => {
    const field = key as keyof AgentVersionContent
    return !isSame(content[field], before.content[field])
  })
  return changed.map(([, word]) => word).join(', ')
}

function countRuns(versions: readonly AgentVersion[], tasks: readonly TaskRow[]): VersionRow[] {
  const rows = versions.map((version, at) => {
    return { version, changed: describeChange(version, versions[at + 1]), runs: 0, succeeded: 0, failed: 0 }
  })
  for (const task of tasks) {
    const version = findVersionAt(versions, startOfRun(task))
    const row = rows.find((one) => one.version === version)
    if (row === undefined) continue
    row.runs += 1
    if (task.status?.phase === 'Succeeded') row.succeeded += 1
    if (task.status?.phase === 'Failed') row.failed += 1
  }
  return rows
}

const columns: Column<VersionRow>[] = [
  { title: 'Version', width: '72px', cell: ({ version: { number } }) => number },
  { title: 'Changed', width: 'minmax(90px, 2fr)', narrow: 'second', cell: ({ changed }) => changed },
  {
    title: 'Model',
    width: 'minmax(90px, 1fr)',
    narrow: 'hidden',
    cell: ({ version: { content } }) => <Foreign text={content.model?.name} most={200} />,
  },
  { title: 'Runs', width: '72px', atEnd: true, narrow: 'hidden', cell: ({ runs }) => formatCount(runs) },
  {
    title: 'Succeeded',
    width: '92px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ succeeded, failed }) =>
      succeeded + failed > 0 && `${Math.round((succeeded / (succeeded + failed)) * 1000) / 10} %`,
  },
  { title: 'Since', width: '112px', atEnd: true, cell: ({ version: { since } }) => <Ago at={since} /> },
]

export default function AgentVersions({ place }: { place: AgentPlace }) {
  const versions = useAgentVersions(place)
  const { namespace, name } = place
  const query = { namespace, agent: name, sort: '-created', view: 'summary', limit: countedRuns } as const
  const tasks = useSum(['Task'], listTasks, { query })
  const items = versions.data?.items
  const rows = useMemo(
    () => countRuns(items ?? [], (tasks.data?.items ?? []) as unknown as TaskRow[]),
    [items, tasks.data],
  )
  const [, change] = useParameters()
  if (versions.error !== null) return <Failure error={versions.error} retry={() => void versions.refetch()} />
  if (items === undefined) return <Loading what="the versions" />
  if (items.length === 0) {
    return (
      <Empty title="No version is known yet">
        <p>One is noted as soon as the prompt of the agent can be read.</p>
      </Empty>
    )
  }
  return (
    <div className="stack">
      <Table
        label="Versions"
        columns={columns}
        items={rows}
        keyOf={({ version }) => `${version.number}`}
        onOpen={({ version }) => change({ to: `${version.number}`, from: undefined })}
      />
      <p className="soft">
        Counted are the last {countedRuns} runs, each with the version that there was when it began.
      </p>
      <Chosen versions={items} />
    </div>
  )
}

function Chosen({ versions }: { versions: readonly AgentVersion[] }) {
  const [parameters] = useParameters()
  const find = (name: string) => versions.find(({ number }) => `${number}` === parameters.get(name))
  const after = find('to') ?? versions[0]
  const before = find('from') ?? versions.find(({ number }) => number < (after?.number ?? 0))
  const numbers = versions.map(({ number }) => `${number}`)
  const named = Object.fromEntries(numbers.map((number) => [number, `version ${number}`]))
  return (
    <>
      {versions.length > 1 && (
        <div className="row">
          <span>What became different from</span>
          <Choice name="from" label="From" values={numbers} words={named} none="the one before" />
          <span>to</span>
          <Choice name="to" label="To" values={numbers} words={named} none="the newest" />
        </div>
      )}
      {before !== undefined && after !== undefined && <Difference a={before} b={after} />}
      {before === undefined && after !== undefined && <Content of={after} />}
    </>
  )
}

function withoutPrompt({ content: { prompt: _prompt, ...settings } }: AgentVersion): object {
  return settings
}

function Difference({ a, b }: { a: AgentVersion; b: AgentVersion }) {
  const before = useMemo(() => withoutPrompt(a), [a])
  const after = useMemo(() => withoutPrompt(b), [b])
  return (
    <>
      <h2>
        Version {b.number} beside version {a.number}
      </h2>
      <ComparedTexts title="Prompt" a={a.content.prompt ?? ''} b={b.content.prompt ?? ''} />
      <ComparedYaml title="Settings" a={before} b={after} />
    </>
  )
}

/** Of the first one, beside which there is none. */
function Content({ of }: { of: AgentVersion }) {
  const settings = useMemo(() => withoutPrompt(of), [of])
  const { prompt } = of.content
  return (
    <>
      <h2>Version {of.number}</h2>
      {prompt !== undefined && <ForeignBlock label="Prompt" text={prompt} />}
      {Object.keys(settings).length > 0 && <YamlBlock label="Settings" value={settings} />}
    </>
  )
}
