// Code in colour: plain until the colours are there, and where it is too long for them.
import { useEffect, useMemo, useState } from 'react'
import type { Piece } from './highlight.ts'
import './coloured-code.css'

type Highlight = (language: string, text: string) => Piece[] | undefined

let loaded: Highlight | undefined

/** What is longer is not worth the time. */
const longest = 20_000
/** The grammars try each beginning of a long word. */
const longWord = /\w{200}/

function useHighlight(wanted: boolean): Highlight | undefined {
  const [, setLoaded] = useState(loaded !== undefined)
  useEffect(() => {
    if (!wanted || loaded !== undefined) return
    let isGone = false
    import('./highlight.ts').then(
      ({ highlight }) => {
        loaded = highlight
        if (!isGone) setLoaded(true)
      },
      // The service is away: code without colours is code all the same.
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [wanted])
  return loaded
}

/** The language is a name as Markdown has it, or the ending of a file. */
function usePieces(language: string, text: string): Piece[] | undefined {
  const isWanted = language !== '' && text.length <= longest && !longWord.test(text)
  const highlight = useHighlight(isWanted)
  return useMemo(() => (isWanted ? highlight?.(language, text) : undefined), [isWanted, highlight, language, text])
}

export function Pieces({ of }: { of: readonly Piece[] }) {
  return of.map(({ text, sort }, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name
    <span key={index} data-code={sort}>
      {text}
    </span>
  ))
}

export function ColouredCode({ language, text }: { language: string; text: string }) {
  const pieces = usePieces(language, text)
  return pieces === undefined ? text : <Pieces of={pieces} />
}

/** Of a path: `ts`. */
export const endingOf = (path: string): string => /\.(\w{1,12})$/.exec(path)?.[1] ?? ''

/** The pieces of each line; undefined while there are no colours. */
export function useColouredLines(language: string, text: string): Piece[][] | undefined {
  const pieces = usePieces(language, text)
  return useMemo(() => pieces && splitLines(pieces), [pieces])
}

function splitLines(pieces: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]]
  for (const { text, sort } of pieces) {
    const [first = '', ...more] = text.split('\n')
    lines.at(-1)?.push({ text: first, sort })
    for (const line of more) lines.push([{ text: line, sort }])
  }
  return lines
}
