// The lines of a changed file: one below the other with their signs, or what was beside what is.
import { useEffect, useMemo, useState } from 'react'
import { Button } from '../button.tsx'
import { shorten, visible } from '../visible-text.ts'
import { type DiffFile, type DiffHunk, type DiffLine, linesOf } from './diff.ts'
import { pairLines } from './pairs.ts'
import { type CompareWords, markWords, type WordMarks } from './word-marks.ts'

/** Lines of a file that are shown at once. */
const mostAtOnce = 2000
const longestLine = 2000

/** The hunks, as far as they fit into so many lines. */
function cutHunks(hunks: DiffHunk[], most: number): DiffHunk[] {
  let left = most
  return hunks.flatMap((hunk) => {
    const lines = hunk.lines.slice(0, Math.max(0, left))
    left -= hunk.lines.length
    return lines.length === 0 ? [] : [{ ...hunk, lines }]
  })
}

/** Undefined until it is there; without it lines are marked as wholes. */
function useCompareWords(): CompareWords | undefined {
  const [compare, setCompare] = useState<CompareWords>()
  useEffect(() => {
    let isCurrent = true
    void import('./words.ts').then(
      ({ compareWords }) => isCurrent && setCompare(() => compareWords),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [])
  return compare
}

export function FileLines({ file, isSplit }: { file: DiffFile; isSplit: boolean }) {
  const [most, setMost] = useState(mostAtOnce)
  const count = linesOf(file)
  const compare = useCompareWords()
  const marks = useMemo(() => markWords(file.hunks, compare), [file, compare])
  if (file.isBinary) return <p className="soft diff-note">A binary file: its content is not shown.</p>
  if (count === 0) return <p className="soft diff-note">No line has changed.</p>
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="diff-lines" aria-label={`Lines of ${visible(file.path)}`} tabIndex={0}>
        {cutHunks(file.hunks, most).map((hunk, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
          <div key={at}>
            <div className="diff-hunk">{visible(shorten(hunk.head, 300))}</div>
            {isSplit ? <SplitLines hunk={hunk} marks={marks} /> : <UnifiedLines hunk={hunk} marks={marks} />}
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

function Text({ line, marks }: { line: DiffLine; marks: WordMarks }) {
  const parts = marks.get(line)
  return (
    <bdi dir="auto" className="foreign">
      {parts === undefined && visible(shorten(line.text, longestLine))}
      {parts?.map(({ text, isChanged }, at) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
        isChanged ? <mark key={at}>{visible(text)}</mark> : visible(text),
      )}
    </bdi>
  )
}

type LinesProps = { hunk: DiffHunk; marks: WordMarks }

function UnifiedLines({ hunk: { lines }, marks }: LinesProps) {
  return lines.map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
    <div key={at} className="diff-line" data-change={words[line.sign]}>
      <span className="diff-number">{line.before}</span>
      <span className="diff-number">{line.after}</span>
      <Sign of={line} />
      <Text line={line} marks={marks} />
    </div>
  ))
}

const Sign = ({ of: { sign } }: { of: DiffLine }) => <span className="diff-sign">{sign === '-' ? '−' : sign}</span>

function SplitLines({ hunk, marks }: LinesProps) {
  return pairLines(hunk.lines).map((pair, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a diff does not change
    <div key={at} className="diff-pair">
      <Half line={pair.before} number={pair.before?.before} marks={marks} />
      <Half line={pair.after} number={pair.after?.after} marks={marks} />
    </div>
  ))
}

type HalfProps = { line: DiffLine | undefined; number: number | undefined; marks: WordMarks }

function Half({ line, number, marks }: HalfProps) {
  if (line === undefined) return <div className="diff-line" data-change="none" />
  return (
    <div className="diff-line" data-change={words[line.sign]}>
      <span className="diff-number">{number}</span>
      <Sign of={line} />
      <Text line={line} marks={marks} />
    </div>
  )
}
