// The filters of the address that are set, each taken away by itself.
import { Button } from './button.tsx'
import { Foreign } from './foreign.tsx'
import { useParameters } from './scope.ts'
import './filter-chips.css'

/** Names of parameters of the address, and what each is called. */
export type FilterNames = Readonly<Record<string, string>>

export function FilterChips({ names }: { names: FilterNames }) {
  const [parameters, change] = useParameters()
  const set = Object.keys(names).filter((name) => parameters.get(name))
  if (set.length === 0) return null
  return (
    <ul className="row chips" aria-label="Filters that are set">
      {set.map((name) => (
        <li key={name}>
          <button type="button" className="chip" onClick={() => change({ [name]: '' })}>
            <span className="visually-hidden">Take away </span>
            {names[name]}: <Foreign text={parameters.get(name) ?? ''} most={60} />
            <span aria-hidden="true">✕</span>
          </button>
        </li>
      ))}
      <li>
        <Button
          look="plain"
          className="small"
          onClick={() => change(Object.fromEntries(Object.keys(names).map((name) => [name, ''])))}
        >
          Show all
        </Button>
      </li>
    </ul>
  )
}
