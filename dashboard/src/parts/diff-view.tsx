// A unified diff: the files, and the lines of each with their signs. What is huge is folded.
import { useId, useMemo, useState } from 'react'
import { Button } from './button.tsx'
import { type DiffFile, type DiffHunk, type DiffLine, parseDiff } from './diff.ts'
import { Foreign } from './foreign.tsx'
import { shorten, visible } from './visible-text.ts'
import './diff-view.css'

/** A file with more changed lines is closed at first, and so are files beyond this many lines in all. */
const longFile = 400
const longDiff = 3000
/** Lines of a file that are shown at once. */
const mostAtOnce = 2000
const longestLine = 2000

const linesOf = ({ hunks }: DiffFile) => hunks.reduce((sum, { lines }) => sum + lines.length, 0)

/** Which files are open at first. */
function findOpen(files: DiffFile[]): boolean[] {
  let sum = 0
  return files.map((file) => {
    const count = linesOf(file)
    sum += count
    return count <= longFile && sum <= longDiff
  })
}

export function DiffView({ diff }: { diff: string }) {
  const files = useMemo(() => parseDiff(diff), [diff])
  const open = useMemo(() => findOpen(files), [files])
  const id = useId()
  if (files.length === 0) return <Foreign text={diff} />
  return (
    <div className="stack">
      <nav aria-label="Changed files" className="card diff-files">
        <ul>
          {files.map((file, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
            <li key={at} className="row">
              <a href={`#${id}-${at}`}>
                <Foreign text={file.path} most={300} />
              </a>
              <Counts file={file} />
            </li>
          ))}
        </ul>
      </nav>
      {files.map((file, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
        <FileView key={at} id={`${id}-${at}`} file={file} isOpen={open[at] === true} />
      ))}
    </div>
  )
}

function Counts({ file: { added, removed, change } }: { file: DiffFile }) {
  return (
    <span className="diff-counts number">
      {change !== 'changed' && <span className="badge">{change}</span>}
      <span className="diff-added">+{added}</span> <span className="diff-removed">−{removed}</span>
    </span>
  )
}

function FileView({ id, file, isOpen }: { id: string; file: DiffFile; isOpen: boolean }) {
  const [isShown, setShown] = useState(isOpen)
  return (
    <details id={id} className="diff-file" open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary className="row">
        {file.oldPath !== undefined && (
          <>
            <Foreign text={file.oldPath} most={300} /> →{' '}
          </>
        )}
        <Foreign text={file.path} most={300} /> <Counts file={file} />
      </summary>
      {isShown && <FileLines file={file} />}
    </details>
  )
}

/** The hunks, as far as they fit into so many lines. */
function cutHunks(hunks: DiffHunk[], most: number): DiffHunk[] {
  let left = most
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left))
    left -= hunk.lines.length
    return lines.length === 0 ? [] : [{ ...hunk, lines }]
  })
}

function FileLines({ file }: { file: DiffFile }) {
  const [most, setMost] = useState(mostAtOnce)
  const count = linesOf(file)
  if (file.isBinary) return <p className="soft diff-note">A binary file: its content is not shown.</p>
  if (count === 0) return <p className="soft diff-note">No line has changed.</p>
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="diff-lines" aria-label={`Lines of ${file.path}`} tabIndex={0}>
        {cutHunks(file.hunks, most).map((hunk, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
          <div key={at}>
            <div className="diff-hunk">{visible(shorten(hunk.head, 300))}</div>
            {hunk.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
              <LineView key={index} line={line} />
            ))}
          </div>
        ))}
      </section>
      {count > most && (
        <div className="diff-note">
          <Button onClick={() => setMost(most + mostAtOnce)}>Show more ({count - most} lines)</Button>
        </div>
      )}
    </>
  )
}

const words: Record<string, string> = { '+': 'added', '-': 'removed' }

function LineView({ line: { sign, text, before, after } }: { line: DiffLine }) {
  return (
    <div className="diff-line" data-change={words[sign]}>
      <span className="diff-number">{before}</span>
      <span className="diff-number">{after}</span>
      <span className="diff-sign">{sign === '-' ? '−' : sign}</span>
      <bdi dir="auto" className="foreign">
        {visible(shorten(text, longestLine))}
      </bdi>
    </div>
  )
}
