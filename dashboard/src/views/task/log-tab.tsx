// What the task writes, as it writes it.
import { type KeyboardEvent, useMemo, useState } from 'react'
import { getTaskLogs, type TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { api } from '../../data/api.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { ForeignBlock } from '../../parts/foreign.tsx'
import { copyText, saveText } from '../../parts/save-file.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { sayFailure } from '../../parts/toasts.tsx'
import { createFinder } from './log-lines.ts'
import { LogView } from './log-view.tsx'
import { isOver, type TaskPlace, targetOf } from './place.ts'
import { type LiveLog, useLog } from './use-log.ts'
import './log-tab.css'

export function LogTab({ task, place }: { task: TaskDetail; place: TaskPlace }) {
  const log = useLog(place)
  const hasEnded = isOver(task)
  if (log.lines.count() > 0) return <Log log={log} place={place} />
  if (log.error !== undefined) return <Failure error={log.error} retry={log.retry} />
  if (log.isOpen && hasEnded) return <Loading what="the log" />
  return (
    <Empty title={hasEnded ? 'No output' : 'No output yet'}>
      {!hasEnded && <p>Lines appear here as they come.</p>}
    </Empty>
  )
}

function useFound({ lines, version }: LiveLog) {
  const [wanted, setWanted] = useState('')
  const [at, setAt] = useState(-1)
  const find = useMemo(() => createFinder(wanted), [wanted])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version tells of new lines
  const found = useMemo(() => find(lines), [find, lines, version])
  return {
    wanted,
    found,
    at,
    want(text: string) {
      setWanted(text)
      setAt(-1)
    },
    step(by: number) {
      if (found.length > 0) setAt((before) => (before + by + found.length) % found.length)
    },
  }
}

type Found = ReturnType<typeof useFound>

function Log({ log, place }: { log: LiveLog; place: TaskPlace }) {
  const [isWrapped, setWrapped] = useState(true)
  const [follows, setFollows] = useState(true)
  const [whole, setWhole] = useState<number>()
  const found = useFound(log)
  const { lines } = log
  const step = (by: number) => {
    setFollows(false)
    found.step(by)
  }
  return (
    <div className="stack log-tab">
      <div className="row">
        <FindBar found={found} step={step} />
        <span className="grow" />
        <Button aria-pressed={isWrapped} onClick={() => setWrapped(!isWrapped)}>
          Wrap lines
        </Button>
        <Button aria-pressed={follows} onClick={() => setFollows(!follows)}>
          Follow the end
        </Button>
        <Button onClick={() => void copyText(lines.text(), 'The log')}>Copy</Button>
        <Button onClick={() => void download(place)}>Download</Button>
      </div>
      {log.error !== undefined && <Failure error={log.error} retry={log.retry} />}
      {lines.dropped() > 0 && (
        <p className="notice">The first {lines.dropped()} lines are not shown. The download has all of them.</p>
      )}
      <LogView
        lines={lines}
        isWrapped={isWrapped}
        follows={follows}
        onFollow={setFollows}
        wanted={found.wanted}
        chosen={found.found[found.at]}
        onShowAll={setWhole}
      />
      <p className="soft" role="status">
        {lines.dropped() + lines.count()} lines{log.isOpen && ', more may come'}
      </p>
      {whole !== undefined && (
        <Dialog title={`Line ${whole + 1}`} isWide onClose={() => setWhole(undefined)}>
          <ForeignBlock label={`Line ${whole + 1}`} text={lines.at(whole - lines.dropped())} />
        </Dialog>
      )}
    </div>
  )
}

function FindBar({ found, step }: { found: Found; step: (by: number) => void }) {
  const count = found.found.length
  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter') return
    event.preventDefault()
    step(event.shiftKey ? -1 : 1)
  }
  return (
    <>
      <input
        className="input log-find"
        dir="auto"
        type="search"
        aria-label="Find in the log"
        placeholder="Find (Enter: next)"
        value={found.wanted}
        onChange={(event) => found.want(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {found.wanted !== '' && (
        <>
          <Button aria-label="Previous line found" onClick={() => step(-1)} disabled={count === 0}>
            ↑
          </Button>
          <Button aria-label="Next line found" onClick={() => step(1)} disabled={count === 0}>
            ↓
          </Button>
          <span className="soft number" role="status">
            {count === 0 ? 'Nothing found' : `${found.at < 0 ? '' : `${found.at + 1} of `}${count} lines`}
          </span>
        </>
      )}
    </>
  )
}

async function download(place: TaskPlace): Promise<void> {
  try {
    const { logs } = await api().call(getTaskLogs, targetOf(place))
    saveText(`${place.name}.log`, logs)
  } catch (error) {
    sayFailure(error)
  }
}
