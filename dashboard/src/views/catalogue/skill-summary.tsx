// A skill: its text, the files beside it, and where they come from.
import type { ReactNode } from 'react'
import { refreshSkill } from '../../../../src/contract/api/tools/skills.ts'
import type { Skill } from '../../../../src/contract/kinds/tools/skill.ts'
import { useChange } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { Ago } from '../../parts/time.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'

type Fact = [string, ReactNode]

/** Where it was read from. */
function originFacts(source: Skill['spec']['source'], status: Skill['status']): Fact[] {
  return [
    ['Repository', source?.codehost && <Foreign text={source.codehost} />],
    ['Folder', source?.path && <Foreign text={source.path} />],
    ['Commit', status?.commit && <Foreign className="mono" text={status.commit.slice(0, 12)} />],
    ['Read', status?.readAt && <Ago key="read" at={status.readAt} />],
  ]
}

export function SkillSummaryCards({ object: { metadata, spec, status } }: { object: Skill }) {
  const files = Object.entries(spec.content?.files ?? {})
  return (
    <>
      <section className="card stack" aria-labelledby="details">
        <h2 id="details">Details</h2>
        <Facts
          of={[
            ['State', <Badge key="state">{status?.phase ?? 'Pending'}</Badge>],
            ['Description', spec.description && <Foreign text={spec.description} />],
            ['Version', spec.version && <Foreign text={spec.version} />],
            ['Author', spec.author && <Foreign text={spec.author} />],
            ['Tags', spec.tags && <Foreign text={spec.tags.join(', ')} />],
            ...originFacts(spec.source, status),
            ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
          ]}
        />
        {spec.source?.codehost !== undefined && <Refresh {...metadata} />}
      </section>
      {spec.content !== undefined && (
        <section className="card stack" aria-labelledby="text">
          <h2 id="text">Text</h2>
          <Markdown label="Text of the skill" text={spec.content.inline} headings={3} />
          {files.map(([path, text]) => (
            <details key={path}>
              <summary>
                <Foreign className="mono" text={path} />
              </summary>
              <ForeignBlock label={`Content of ${path}`} text={text} />
            </details>
          ))}
        </section>
      )}
    </>
  )
}

function Refresh({ namespace, name }: { namespace: string; name: string }) {
  const refresh = useChange(refreshSkill, 'Skill')
  const run = () =>
    refresh.mutate(
      { params: { name }, query: { namespace }, body: {} },
      { onSuccess: () => say(`${name} was read from its repository`), onError: sayFailure },
    )
  return (
    <div>
      <Button busy={refresh.isPending} onClick={run}>
        Read it again
      </Button>
    </div>
  )
}
