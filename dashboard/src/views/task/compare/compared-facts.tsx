// What is known of two runs, in two columns.
import { Link } from 'react-router'
import type { TaskDetail } from '../../../../../src/contract/api/tasks/tasks.ts'
import { Badge } from '../../../parts/badge.tsx'
import { Foreign } from '../../../parts/foreign.tsx'
import { Ago, useNow } from '../../../parts/time.tsx'
import { taskPath } from '../place.ts'
import { type ComparedFact, compareFacts, type Run } from './comparison.ts'
import './compare.css'

export function ComparedFacts({ a, b }: { a: Run; b: Run }) {
  const now = useNow()
  return (
    <table className="card compare-facts" aria-label="What is known of both">
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">What</span>
          </th>
          <Head task={a.task} />
          <Head task={b.task} />
          <th scope="col">Change</th>
        </tr>
      </thead>
      <tbody>
        {compareFacts(a, b, now).map((fact) => (
          <tr key={fact.name} data-differs={fact.differs}>
            <th scope="row">{fact.name}</th>
            <Cell fact={fact} value={fact.a} />
            <Cell fact={fact} value={fact.b} />
            <td className="number">{fact.change ?? (fact.differs ? 'differs' : <Same />)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Same = () => (
  <span className="soft">
    <span aria-hidden="true">=</span>
    <span className="visually-hidden">the same</span>
  </span>
)

function Head({ task: { metadata } }: { task: TaskDetail }) {
  return (
    <th scope="col">
      <Link className="text-link" to={taskPath(metadata)}>
        <Foreign text={metadata.name} />
      </Link>{' '}
      <span className="soft compare-age">
        <Ago at={metadata.creationTimestamp} />
      </span>
    </th>
  )
}

function Cell({ fact: { name }, value }: { fact: ComparedFact; value: ComparedFact['a'] }) {
  if (value === undefined) return <td className="soft">–</td>
  if (name === 'State') {
    return (
      <td>
        <Badge>{value.text}</Badge>
      </td>
    )
  }
  const text = <Foreign text={value.text} most={600} />
  return (
    <td className="number">
      {value.to === undefined ? (
        text
      ) : (
        <Link className="text-link" to={value.to}>
          {text}
        </Link>
      )}
    </td>
  )
}
