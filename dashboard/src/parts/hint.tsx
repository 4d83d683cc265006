import { Fragment } from 'react'

/** A description of the contract: what stands in backticks is code. */
export function Hint({ text }: { text: string }) {
  // Every second part stood between backticks.
  return text.split('`').map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a description does not change
    <Fragment key={index}>{index % 2 === 1 ? <code>{part}</code> : part}</Fragment>
  ))
}
