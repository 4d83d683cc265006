// A line in which the reader of Markdown would find words alone: shown as that would show it, without fetching the reader.
import { visible } from '../visible-text.ts'
import './markdown.css'

const marks = ['\n', ...'*_`[]<>#|~\\!&@', '://', 'www.']

const isLetter = (character: string) => character.toLowerCase() !== character.toUpperCase()

export function isPlainLine(text: string): boolean {
  return isLetter(text.charAt(0)) && !marks.some((mark) => text.includes(mark))
}

export function PlainLine({ text }: { text: string }) {
  return (
    <div className="markdown foreign" dir="auto">
      <p dir="auto">{visible(text)}</p>
    </div>
  )
}
