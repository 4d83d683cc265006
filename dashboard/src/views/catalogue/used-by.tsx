import { Link } from 'react-router'
import { Foreign } from '../../parts/foreign.tsx'
import { type ObjectPath, objectKind } from '../objects/object-kinds.ts'
import { useUses } from './uses.ts'

/** Which agents and providers name the object. */
export function UsedBy({ path, place }: { path: ObjectPath; place: { namespace: string; name: string } }) {
  const uses = useUses(path, place)
  return (
    <section className="card" aria-labelledby="used-by">
      <h2 id="used-by">Used by</h2>
      {uses.length === 0 && <p className="soft">No agent or provider of this namespace names it.</p>}
      <ul className="stack">
        {uses.map((use) => (
          <li key={`${use.path} ${use.name}`} className="row">
            <span className="soft">{objectKind(use.path).noun}</span>
            <Link to={`/${use.path}/${use.namespace}/${use.name}`}>
              <Foreign text={use.name} />
            </Link>
          </li>
        ))}
      </ul>
      {path === 'agents' && (
        <p>
          <Link to={`/tasks?ns=${encodeURIComponent(place.namespace)}&agent=${encodeURIComponent(place.name)}`}>
            Tasks of this agent
          </Link>
        </p>
      )}
    </section>
  )
}
