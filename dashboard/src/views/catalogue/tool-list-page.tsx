// Tools that come with the service, and those that were made, apart.
import { Link, useNavigate } from 'react-router'
import { listTools, type ToolItem } from '../../../../src/contract/api/tools/tools.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { MakeLink, NothingYet } from '../objects/nothing-yet.tsx'

type Custom = Extract<ToolItem, { builtin: false }>
type Builtin = Extract<ToolItem, { builtin: true }>

const customPath = ({ namespace, name }: Custom) => `/tools/${namespace}/${name}`
/** No namespace is called `-`. */
const builtinPath = ({ name }: Builtin) => `/tools/-/${name}`

const shared: Column<ToolItem>[] = [
  {
    title: 'State',
    width: '112px',
    cell: ({ available }) => (
      <Badge tone={available ? 'good' : 'warn'}>{available ? 'Available' : 'Not available'}</Badge>
    ),
  },
  {
    title: 'What it does',
    width: 'minmax(0, 3fr)',
    cell: ({ description }) => <Foreign text={description} most={300} />,
    narrow: 'second',
  },
]

const nameWidth = 'minmax(140px, 1fr)'

const customColumns: Column<Custom>[] = [
  {
    title: 'Name',
    width: nameWidth,
    cell: (tool) => <Link to={customPath(tool)}>{<Foreign text={tool.name} />}</Link>,
  },
  ...shared,
  { title: 'Address', cell: ({ url }) => <Foreign text={url} />, narrow: 'hidden' },
  { title: 'Namespace', cell: ({ namespace }) => namespace, narrow: 'hidden' },
  { title: 'Created', width: '112px', atEnd: true, narrow: 'hidden', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]

const builtinColumns: Column<Builtin>[] = [
  {
    title: 'Name',
    width: nameWidth,
    cell: (tool) => <Link to={builtinPath(tool)}>{<Foreign text={tool.name} />}</Link>,
  },
  ...shared,
  { title: 'Why not', cell: ({ reason }) => <Foreign text={reason} />, narrow: 'hidden' },
]

export default function ToolListPage() {
  const navigate = useNavigate()
  const tools = useRecordPages('Tool', listTools, { query: useScope().query })
  const all = tools.items as readonly ToolItem[]
  return (
    <Page title="Tools" actions={<MakeLink path="tools" />}>
      <section className="stack" aria-labelledby="own-tools">
        <h2 id="own-tools">Created here</h2>
        <Listing
          label="Tools made here"
          columns={customColumns}
          list={{ ...tools, items: all.filter((tool): tool is Custom => !tool.builtin) }}
          keyOf={customPath}
          onOpen={(tool) => void navigate(customPath(tool))}
          empty={
            <NothingYet path="tools">
              A tool lets models call an HTTP interface or the tools of an MCP server.
            </NothingYet>
          }
        />
      </section>
      <section className="stack" aria-labelledby="builtin-tools">
        <h2 id="builtin-tools">Built in</h2>
        <Listing
          label="Built-in tools"
          columns={builtinColumns}
          list={{ ...tools, error: null, hasMore: false, items: all.filter((tool): tool is Builtin => tool.builtin) }}
          keyOf={({ name }) => name}
          onOpen={(tool) => void navigate(builtinPath(tool))}
          empty={<p className="soft">None.</p>}
        />
      </section>
    </Page>
  )
}
