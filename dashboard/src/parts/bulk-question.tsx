// A question about several things at once; when it was answered, each of them that failed is named with its reason.
import { type ReactNode, useState } from 'react'
import { messageOf } from '../../../src/errors.ts'
import { Button } from './button.tsx'
import { Confirm, Dialog } from './dialog.tsx'
import { Foreign } from './foreign.tsx'
import { say } from './toasts.tsx'

type Refusal = { name: string; message: string }

/** At most so many calls at a time. */
const atOnce = 6
const maxNamed = 8

/** Each is tried, whatever becomes of the others. */
async function callEach<T>(items: readonly T[], call: (item: T) => Promise<unknown>, nameOf: (item: T) => string) {
  const left = [...items]
  const refused: Refusal[] = []
  async function next(): Promise<void> {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      const name = nameOf(item)
      await call(item).catch((error) => void refused.push({ name, message: messageOf(error) }))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, next))
  return refused
}

type BulkProps<T> = {
  items: readonly T[]
  nameOf: (item: T) => string
  call: (item: T) => Promise<unknown>
  /** `Delete`, and `deleted` of what was. */
  word: string
  done: string
  /** `3 tasks`. */
  describe: (count: number) => string
  look?: 'danger' | 'main'
  isReady?: boolean
  /** What is lost, or what else has to be said. */
  children: ReactNode
  onClose: () => void
  /** When it was done, and what failed was seen. */
  onDone: () => void
}

export function BulkQuestion<T>(props: BulkProps<T>) {
  const { nameOf, word, done, describe, children, onClose, onDone } = props
  // What was asked about stays, whatever comes and goes in the list meanwhile.
  const [items] = useState(props.items)
  const [isBusy, setBusy] = useState(false)
  const [refused, setRefused] = useState<Refusal[]>()
  async function run(): Promise<void> {
    setBusy(true)
    const failed = await callEach(items, props.call, nameOf)
    const succeeded = items.length - failed.length
    if (succeeded > 0) say(`${describe(succeeded)} ${succeeded === 1 ? 'is' : 'are'} ${done}`)
    if (failed.length === 0) onDone()
    else setRefused(failed)
  }
  if (refused !== undefined)
    return <Refusals title={`${describe(refused.length)} not ${done}`} of={refused} onClose={onDone} />
  return (
    <Confirm
      title={`${word} ${describe(items.length)}?`}
      action={`${word} ${describe(items.length)}`}
      decline="Close"
      look={props.look ?? 'danger'}
      isReady={props.isReady ?? true}
      isBusy={isBusy}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <ul>
        {items.slice(0, maxNamed).map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what is asked about does not change
          <li key={at}>
            <Foreign text={nameOf(item)} most={200} />
          </li>
        ))}
      </ul>
      {items.length > maxNamed && <p>and {items.length - maxNamed} more</p>}
      {children}
    </Confirm>
  )
}

function Refusals({ title, of, onClose }: { title: string; of: readonly Refusal[]; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <ul className="stack" aria-label="What failed">
        {of.map(({ name, message }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: what failed does not change
          <li key={at}>
            <strong>
              <Foreign text={name} most={200} />
            </strong>
            : <Foreign text={message} most={500} />
          </li>
        ))}
      </ul>
      <div className="dialog-end">
        <Button look="main" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
