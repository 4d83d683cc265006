// What each kind of the catalogue says of itself.
import type { ReactNode } from 'react'
import type { Agent } from '../../../../src/contract/kinds/agents/agent.ts'
import { describeRuntime } from '../../../../src/contract/kinds/agents/runtime-types.ts'
import type { Tool } from '../../../../src/contract/kinds/tools/tool.ts'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Ago } from '../../parts/time.tsx'
import { ReadyBadge } from '../objects/columns.tsx'
import type { ObjectPath } from '../objects/object-kinds.ts'
import { Parameters } from './parameters.tsx'
import { ProviderSummary } from './provider-summary.tsx'
import { SkillSummaryCards } from './skill-summary.tsx'

export const summaries: Partial<Record<ObjectPath, (props: { object: never }) => ReactNode>> = {
  agents: AgentSummary,
  providers: ProviderSummary,
  tools: ToolSummary,
  skills: SkillSummaryCards,
}

const list = (names: readonly (string | undefined)[] | undefined) =>
  names === undefined || names.length === 0 ? undefined : <Foreign text={names.join(', ')} />

function AgentSummary({ object: { metadata, spec, status } }: { object: Agent }) {
  const prompt = spec.systemPrompt?.inline
  return (
    <>
      <section className="card" aria-labelledby="details">
        <h2 id="details">Details</h2>
        <Facts
          of={[
            ['State', <ReadyBadge key="state" ready={status?.ready} />],
            [
              'Program',
              spec.runtime && (
                <Foreign
                  text={spec.runtime.type ? describeRuntime(spec.runtime.type) : spec.runtime.runtimeRef?.name}
                />
              ),
            ],
            [
              'Provider',
              spec.providerRef && (
                <ObjectLink
                  kind="Provider"
                  namespace={spec.providerRef.namespace ?? metadata.namespace}
                  name={spec.providerRef.name}
                />
              ),
            ],
            ['Model', spec.model?.name && <Foreign text={spec.model.name} />],
            ['Tools', list(spec.tools?.filter(({ enabled }) => enabled).map(({ name }) => name))],
            ['Skills', list(spec.skills?.map(({ name, configMapRef }) => name ?? configMapRef?.name))],
            ['Tasks at work', status?.activeTasks],
            ['Last used', status?.lastUsed && <Ago key="used" at={status.lastUsed} />],
            ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
          ]}
        />
      </section>
      {prompt !== undefined && (
        <section className="card" aria-labelledby="prompt">
          <h2 id="prompt">System prompt</h2>
          <ForeignBlock label="Text of the system prompt" text={prompt} />
        </section>
      )}
    </>
  )
}

function ToolSummary({ object: { metadata, spec, status } }: { object: Tool }) {
  return (
    <>
      <section className="card" aria-labelledby="details">
        <h2 id="details">Details</h2>
        <Facts
          of={[
            ['Available', status?.available === true ? 'yes' : 'no'],
            ['What it does', <Foreign key="does" text={spec.description} />],
            ['Address', <Foreign key="address" text={spec.mcp?.url ?? spec.http?.url ?? status?.endpoint} />],
            ['Method', spec.http?.method],
            ['Error', status?.error && <Foreign text={status.error} />],
            ['Last checked', status?.lastCheck && <Ago key="checked" at={status.lastCheck} />],
            ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
          ]}
        />
      </section>
      {status?.tools === undefined ? (
        <Parameters schema={spec.parameters} />
      ) : (
        <section className="card" aria-labelledby="offered">
          <h2 id="offered">Tools of the server</h2>
          <ul className="stack">
            {status.tools.map(({ name, description }) => (
              <li key={name}>
                <Foreign className="mono" text={name} /> <Foreign className="soft" text={description} most={300} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}
