// Filters and order of a list under a name of one's own, in this browser.
import { type FormEvent, useState } from 'react'
import { Link } from 'react-router'
import { isJsonObject, tryParseJson } from '../../../src/lib/json.ts'
import { browserStore } from '../session/browser-store.ts'
import { useCaller } from '../session/caller.ts'
import { Button } from './button.tsx'
import { Dialog, FormEnd } from './dialog.tsx'
import { Foreign } from './foreign.tsx'
import { useParameters } from './scope.ts'
import { TextField } from './text-field.tsx'
import './filter-chips.css'

type SavedView = { name: string; query: string }

const maxViews = 20
const maxNameLength = 40

function isView(value: unknown): value is SavedView {
  return isJsonObject(value) && typeof value.name === 'string' && typeof value.query === 'string'
}

function readViews(key: string): SavedView[] {
  const stored = tryParseJson(browserStore.get(key) ?? '')
  return Array.isArray(stored) ? stored.filter(isView).slice(0, maxViews) : []
}

/** Of whoever is signed in: the next one at the browser has others. */
function useViews(list: string) {
  const key = `svc.views.${list}.${useCaller().username}`
  const [views, setViews] = useState(() => readViews(key))
  function store(next: SavedView[]): void {
    browserStore.set(key, JSON.stringify(next))
    setViews(next)
  }
  return {
    views,
    /** One of the same name is replaced. */
    save: (view: SavedView) => store([...views.filter(({ name }) => name !== view.name), view].slice(-maxViews)),
    forget: (view: SavedView) => store(views.filter((one) => one !== view)),
  }
}

/** The order of parameters is of no concern. */
function writeQuery(parameters: URLSearchParams): string {
  const sorted = new URLSearchParams(parameters)
  sorted.sort()
  return sorted.toString()
}

export function SavedViews({ list }: { list: string }) {
  const { views, save, forget } = useViews(list)
  const [parameters] = useParameters()
  const [isNaming, setNaming] = useState(false)
  const query = writeQuery(parameters)
  const current = views.find((view) => view.query === query)
  if (views.length === 0 && query === '') return null
  return (
    <nav className="row" aria-label="Saved views">
      {views.map((view) => (
        <Link
          key={view.name}
          className="chip"
          to={{ search: view.query }}
          aria-current={view === current ? 'true' : undefined}
        >
          <Foreign text={view.name} most={maxNameLength} />
        </Link>
      ))}
      {current === undefined && query !== '' && (
        <Button look="plain" className="small" onClick={() => setNaming(true)}>
          Save view…
        </Button>
      )}
      {current !== undefined && (
        <Button look="plain" className="small" onClick={() => forget(current)}>
          Forget view
        </Button>
      )}
      {isNaming && (
        <NameDialog
          onClose={() => setNaming(false)}
          onName={(name) => {
            save({ name, query })
            setNaming(false)
          }}
        />
      )}
    </nav>
  )
}

function NameDialog({ onName, onClose }: { onName: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState('')
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (name.trim() !== '') onName(name.trim())
  }
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Name"
          hint="Filters and order of the list are saved in this browser, for you alone."
          isRequired
          spellCheck
          maxLength={maxNameLength}
          value={name}
          onText={setName}
        />
        <FormEnd action="Save" isReady={name.trim() !== ''} onClose={onClose} />
      </form>
    </Dialog>
  )
}
