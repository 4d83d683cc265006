import { ansiPieces } from './ansi.ts'
import './ansi.css'

/** A line that a program wrote, in the colours that it chose. */
export function AnsiText({ text }: { text: string }) {
  return ansiPieces(text).map(({ text: words, colour, isBold, isSoft }, index) =>
    colour === undefined && !isBold && !isSoft ? (
      words
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name
      <span key={index} data-ansi={colour} data-ansi-bold={isBold} data-ansi-soft={isSoft}>
        {words}
      </span>
    ),
  )
}
