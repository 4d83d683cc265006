// Lines of a file with their numbers, as somebody quoted them.
import { endingOf, Pieces, useColouredLines } from './code/coloured-code.tsx'
import { Foreign } from './foreign.tsx'
import { shorten, visible } from './visible-text.ts'
import './code-quote.css'

type CodeQuoteProps = { path: string | undefined; firstLine: number | undefined; text: string }

const longestQuote = 40_000

export function CodeQuote({ path = '', firstLine, text }: CodeQuoteProps) {
  const shown = shorten(visible(text), longestQuote)
  const lines = shown.split('\n')
  const coloured = useColouredLines(endingOf(path), shown)
  return (
    <figure className="code-quote">
      <figcaption>
        <Foreign className="mono" text={firstLine === undefined ? path : `${path}:${firstLine}`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section tabIndex={0} aria-label={`Code of ${path}`}>
        <pre>
          {lines.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no name but their place
            <div key={index} className="code-line">
              <span className="code-number">{firstLine === undefined ? '' : firstLine + index}</span>
              <bdi dir="ltr" className="foreign">
                {coloured === undefined ? line : <Pieces of={coloured[index] ?? []} />}
              </bdi>
            </div>
          ))}
        </pre>
      </section>
    </figure>
  )
}
