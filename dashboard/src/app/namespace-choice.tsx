// The namespace that lists show: one, or all.
import { useId, useState } from 'react'
import { useObjects } from '../data/lists.ts'
import { namespaceOf } from '../data/summary.ts'
import { useParameters, useScope } from '../parts/scope.ts'
import { visible } from '../parts/visible-text.ts'

/** Those that something is in, as far as it was read, and the one that is chosen. Read when they are `wanted`. */
function useNamespaces(wanted: boolean): string[] {
  const { namespace, home } = useScope()
  const tasks = useObjects('Task', { allNamespaces: true, sort: '-created' }, wanted)
  const agents = useObjects('Agent', { allNamespaces: true }, wanted)
  const found = [...tasks.items, ...agents.items].map(namespaceOf)
  return [...new Set([...found, home, ...(namespace === undefined ? [] : [namespace])])].sort()
}

export function NamespaceChoice() {
  const { isFixed, namespace } = useScope()
  if (isFixed) return <span className="badge">{namespace}</span>
  return <NamespaceSelect />
}

function NamespaceSelect() {
  const [, change] = useParameters()
  const { namespace = '' } = useScope()
  const [isWanted, setWanted] = useState(false)
  const names = useNamespaces(isWanted)
  const want = () => setWanted(true)
  const id = useId()
  return (
    <>
      <label htmlFor={id} className="visually-hidden">
        Namespace
      </label>
      <select
        id={id}
        className="input"
        value={namespace}
        onPointerEnter={want}
        onFocus={want}
        onChange={(event) => change({ ns: event.target.value })}
      >
        <option value="">All namespaces</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </>
  )
}
