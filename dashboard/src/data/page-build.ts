// Which build of the dashboard this tab runs, and whether the service has another one by now.
import { watchReach } from './reach.ts'

/** The code of a page, or of a part of one, did not come. */
export class CodeNotLoaded extends Error {}

export async function loadCode<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await watchReach(load)
  } catch (error) {
    throw new CodeNotLoaded('This page could not be loaded', { cause: error })
  }
}

/** The program of the page, whose name has a hash of what is in it. */
const entryOf = (html: Document) => html.querySelector<HTMLScriptElement>('script[type=module][src]')?.src

const own = entryOf(document)

/** The entry of the page that the service would send now. */
async function readEntry(): Promise<string | undefined> {
  const headers = { accept: 'text/html' }
  const answer = await fetch('/', { headers, credentials: 'omit', cache: 'no-store' })
  const [, rest = ''] = (await answer.text()).split('<script type="module"', 2)
  const [, source] = rest.split('src="', 2)
  return source === undefined ? undefined : new URL(source.split('"', 1)[0] ?? '', window.location.href).href
}

/** False where it cannot be known. */
export async function isOutdated(): Promise<boolean> {
  const newest = await readEntry().catch(() => undefined)
  return newest !== undefined && own !== undefined && newest !== own
}
