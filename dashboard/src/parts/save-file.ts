// Files that are handed to the browser: kept where downloads are, or in the clipboard.
import { say, sayFailure } from './toasts.tsx'

export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The download has the content by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}

export function saveText(name: string, text: string): void {
  saveFile(name, new Blob([text], { type: 'text/plain;charset=utf-8' }))
}

/** Browsers refuse it on addresses that are neither local nor https. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(`${what} is in the clipboard`)
  } catch {
    sayFailure(new Error('The browser does not let this page write into the clipboard. Download it instead.'))
  }
}
