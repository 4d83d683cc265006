import { Link, useNavigate } from 'react-router'
import { listSkills, type SkillSummary } from '../../../../src/contract/api/tools/skills.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { MakeLink, NothingYet } from '../objects/nothing-yet.tsx'

const skillPath = ({ namespace, name }: SkillSummary) => `/skills/${namespace}/${name}`

const columns: Column<SkillSummary>[] = [
  {
    title: 'Name',
    width: 'minmax(140px, 1.4fr)',
    cell: (skill) => (
      <Link to={skillPath(skill)}>
        <Foreign text={skill.displayName ?? skill.name} />
      </Link>
    ),
  },
  { title: 'State', width: '104px', cell: ({ phase }) => <Badge>{phase ?? 'Pending'}</Badge> },
  {
    title: 'Description',
    width: 'minmax(0, 3fr)',
    cell: ({ description }) => <Foreign text={description} most={300} />,
    narrow: 'second',
  },
  { title: 'Version', width: '90px', cell: ({ version }) => <Foreign text={version} />, narrow: 'hidden' },
  { title: 'Tags', cell: ({ tags }) => <Foreign text={tags?.join(', ')} />, narrow: 'hidden' },
  { title: 'Namespace', cell: ({ namespace }) => namespace, narrow: 'hidden' },
  { title: 'Created', width: '112px', atEnd: true, narrow: 'hidden', cell: ({ createdAt }) => <Ago at={createdAt} /> },
]

export default function SkillListPage() {
  const navigate = useNavigate()
  const skills = useRecordPages('Skill', listSkills, { query: useScope().query })
  return (
    <Page title="Skills" actions={<MakeLink path="skills" />}>
      <Listing
        label="Skills"
        columns={columns}
        list={skills}
        keyOf={skillPath}
        onOpen={(skill) => void navigate(skillPath(skill))}
        fills
        empty={
          <NothingYet path="skills">
            A skill is knowledge for agents in Markdown, written here or read from a repository. Models read it when
            they need it.
          </NothingYet>
        }
      />
    </Page>
  )
}
