// A tool that comes with the service: what models are told of it.
import { useParams } from 'react-router'
import { type BuiltinTool, getTool } from '../../../../src/contract/api/tools/tools.ts'
import { useRecord } from '../../data/records.ts'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Parameters } from './parameters.tsx'
import { UsedBy } from './used-by.tsx'

export default function BuiltinToolPage() {
  const { name = '' } = useParams()
  const { home } = useScope()
  const tool = useRecord('Tool', getTool, { params: { name } })
  return (
    <Page title={name} heading={<Foreign text={name} />}>
      {tool.error !== null && <Failure error={tool.error} retry={() => void tool.refetch()} />}
      {tool.isLoading && <Loading what="the tool" />}
      {tool.data !== undefined && 'builtin' in tool.data && (
        <div className="grid">
          <About tool={tool.data} />
          <Parameters schema={tool.data.parameters} />
          <UsedBy path="tools" place={{ namespace: home, name }} />
        </div>
      )}
    </Page>
  )
}

function About({ tool: { description, available, reason } }: { tool: BuiltinTool }) {
  return (
    <section className="card" aria-labelledby="details">
      <h2 id="details">Details</h2>
      <Facts
        of={[
          ['Comes from', 'the service itself; it cannot be changed'],
          ['Available', available ? 'yes' : 'no'],
          ['Why not', reason && <Foreign text={reason} />],
          ['What it does', <Foreign key="does" text={description} />],
        ]}
      />
    </section>
  )
}
