// A unified diff: a tree of the files, and the lines of each, one below the other or side by side. What is huge is folded, and what was viewed.
import { useId, useMemo, useState } from 'react'
import { browserStore } from '../../session/browser-store.ts'
import { Button } from '../button.tsx'
import { Foreign } from '../foreign.tsx'
import { useMedia } from '../media.ts'
import { visible } from '../visible-text.ts'
import { type DiffFile, linesOf, parseDiff } from './diff.ts'
import { FileLines } from './diff-lines.tsx'
import { FileTree } from './file-tree.tsx'
import { buildFolders } from './folders.ts'
import { LineCounts } from './line-counts.tsx'
import { sumOfFile, useViewedFiles } from './viewed-files.ts'
import './diff-view.css'

/** A file with more changed lines is closed at first, and so are files beyond this many lines in all. */
const longFile = 400
const longDiff = 3000

/** Which files are open at first. */
function findOpen(files: DiffFile[]): boolean[] {
  let sum = 0
  return files.map((file) => {
    const count = linesOf(file)
    sum += count
    return count <= longFile && sum <= longDiff
  })
}

const layoutKey = 'svc.diff-layout'

/** Two columns of code need the room. */
function useLayout() {
  const [isWanted, setWanted] = useState(browserStore.get(layoutKey) === 'split')
  const isNarrow = useMedia('(max-width: 820px)')
  function choose(isSplit: boolean): void {
    browserStore.set(layoutKey, isSplit ? 'split' : 'unified')
    setWanted(isSplit)
  }
  return { isSplit: isWanted && !isNarrow, isNarrow, choose }
}

export function DiffView({ diff }: { diff: string }) {
  const files = useMemo(() => parseDiff(diff), [diff])
  const sums = useMemo(() => files.map(sumOfFile), [files])
  const open = useMemo(() => findOpen(files), [files])
  const folders = useMemo(() => buildFolders(files), [files])
  const { viewed, mark } = useViewedFiles()
  const { isSplit, isNarrow, choose } = useLayout()
  const id = useId()
  if (files.length === 0) return <Foreign text={diff} />
  const isViewed = (at: number) => viewed.has(sums[at] ?? '')
  const hasTree = files.length > 1
  return (
    <div className="stack diff">
      <div className="row">
        {!isNarrow && <LayoutChoice isSplit={isSplit} onChoose={choose} />}
        {hasTree && (
          <span className="soft number">
            {files.filter((_, at) => isViewed(at)).length} of {files.length} files viewed
          </span>
        )}
      </div>
      <div className={hasTree ? 'diff-columns' : undefined}>
        {hasTree && <FileTree root={folders} idOf={(at) => `${id}-${at}`} isViewed={isViewed} />}
        <div className="stack">
          {files.map((file, at) => (
            <FileView
              // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
              key={at}
              id={`${id}-${at}`}
              file={file}
              isOpen={open[at] === true && !isViewed(at)}
              isSplit={isSplit}
              {...(hasTree && { isViewed: isViewed(at), onView: (is: boolean) => mark(sums[at] ?? '', is) })}
            />
          ))}
        </div>
      </div>
    </div>
  )
}

function LayoutChoice({ isSplit, onChoose }: { isSplit: boolean; onChoose: (isSplit: boolean) => void }) {
  return (
    <fieldset className="choices diff-layout">
      <legend className="visually-hidden">How lines are shown</legend>
      <Button className="small" aria-pressed={!isSplit} onClick={() => onChoose(false)}>
        Unified
      </Button>
      <Button className="small" aria-pressed={isSplit} onClick={() => onChoose(true)}>
        Side by side
      </Button>
    </fieldset>
  )
}

type FileProps = {
  id: string
  file: DiffFile
  isOpen: boolean
  isSplit: boolean
  /** Absent where there is one file alone. */
  isViewed?: boolean
  onView?: (isViewed: boolean) => void
}

function FileView({ id, file, isOpen, isSplit, isViewed = false, onView }: FileProps) {
  const [isShown, setShown] = useState(isOpen)
  function view(is: boolean): void {
    onView?.(is)
    setShown(!is)
  }
  return (
    <div className="diff-file-frame">
      <details id={id} className="diff-file" open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
        <summary className="row">
          {file.oldPath !== undefined && (
            <>
              <Foreign text={file.oldPath} most={300} /> →{' '}
            </>
          )}
          <Foreign text={file.path} most={300} /> <LineCounts file={file} />
        </summary>
        {isShown && <FileLines file={file} isSplit={isSplit} />}
      </details>
      {onView !== undefined && (
        <label className="diff-viewed">
          <input type="checkbox" checked={isViewed} onChange={(event) => view(event.target.checked)} /> Viewed
          <span className="visually-hidden"> {visible(file.path)}</span>
        </label>
      )}
    </div>
  )
}
