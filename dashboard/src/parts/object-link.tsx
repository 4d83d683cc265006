// The name of an object, as a link to its page where it has one.
import { Link } from 'react-router'
import { Foreign } from './foreign.tsx'

/** The first part of the address of each kind. */
const paths = {
  Task: 'tasks',
  Agent: 'agents',
  Tool: 'tools',
  Skill: 'skills',
  Provider: 'providers',
  RepositoryScan: 'scans',
  RepositoryMonitor: 'monitors',
  Session: 'sessions',
  ConfigMap: 'config-maps',
} as const

type LinkedKind = keyof typeof paths

const hasPage = (kind: string): kind is LinkedKind => Object.hasOwn(paths, kind)

type ObjectLinkProps = { kind: string; namespace: string; name: string | undefined; className?: string }

export function ObjectLink({ kind, namespace, name, className = '' }: ObjectLinkProps) {
  if (!name) return null
  const text = <Foreign text={name} className={className} />
  if (!hasPage(kind)) return text
  return (
    <Link className="text-link" to={`/${paths[kind]}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`}>
      {text}
    </Link>
  )
}
