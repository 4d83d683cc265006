// Two texts: the same one once, or what differs line by line.
import { createTwoFilesPatch } from 'diff'
import { useEffect, useMemo, useState } from 'react'
import { ForeignBlock } from '../foreign.tsx'
import { writeYaml } from '../yaml-block.tsx'
import { DiffView } from './diff-view.tsx'
import './compared-texts.css'

/** Longer ones are compared as far as this. */
const maxLength = 200_000
/** Beyond so many differences the texts are shown beside each other. */
const maxDifferences = 4000

/** Undefined where they differ too much to say how. */
function writePatch(title: string, a: string, b: string): string | undefined {
  const [before, after] = [a, b].map((text) => `${text.slice(0, maxLength).replace(/\r\n/g, '\n').trimEnd()}\n`)
  const options = { context: 3, maxEditLength: maxDifferences }
  return createTwoFilesPatch(`a/${title}`, `b/${title}`, before ?? '', after ?? '', undefined, undefined, options)
}

/** Nothing where neither has one. */
export function ComparedTexts({ title, a, b }: { title: string; a: string; b: string }) {
  if (a === '' && b === '') return null
  return (
    <section className="stack" aria-label={title}>
      <h2>{title}</h2>
      {a === b ? <SameText title={title} text={a} /> : <Difference title={title} a={a} b={b} />}
    </section>
  )
}

function SameText({ title, text }: { title: string; text: string }) {
  return (
    <details className="compare-same">
      <summary>The same in both</summary>
      <ForeignBlock label={title} text={text} />
    </details>
  )
}

function Difference({ title, a, b }: { title: string; a: string; b: string }) {
  const patch = useMemo(() => writePatch(title, a, b), [title, a, b])
  const isCut = Math.max(a.length, b.length) > maxLength
  if (patch === undefined || a === '' || b === '') {
    return (
      <div className="compare-blocks">
        <Block title={`${title} of the first`} text={a} />
        <Block title={`${title} of the second`} text={b} />
      </div>
    )
  }
  return (
    <>
      {isCut && <p className="notice">Only the first {maxLength / 1000} kB of each are compared.</p>}
      <DiffView diff={patch} />
    </>
  )
}

function Block({ title, text }: { title: string; text: string }) {
  return text === '' ? <p className="soft">There is none.</p> : <ForeignBlock label={title} text={text} />
}

/** Two values as YAML; nothing where they are the same. */
export function ComparedYaml({ title, a, b }: { title: string; a: object; b: object }) {
  const [texts, setTexts] = useState<readonly [string, string]>()
  useEffect(() => {
    let isCurrent = true
    void Promise.all([writeYaml(a), writeYaml(b)]).then((written) => {
      if (isCurrent) setTexts(written)
    })
    return () => {
      isCurrent = false
    }
  }, [a, b])
  if (texts === undefined || texts[0] === texts[1]) return null
  return <ComparedTexts title={title} a={texts[0]} b={texts[1]} />
}
