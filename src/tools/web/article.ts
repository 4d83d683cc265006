// Finds the article of an HTML page. Runs in its own thread, because the parsers take minutes on some pages.
import { answerInThread } from '../../lib/thread-answers.ts'

export type ArticleRequest = { html: string; url: string }

/** What a thread is started with. */
export const articleModule = import.meta.url

const maxElements = 50_000

/** Gives the article as Markdown; empty when none is found. */
async function loadReader(): Promise<(page: ArticleRequest) => string> {
  const [{ parseHTML }, { Readability }, { default: Turndown }] = await Promise.all([
    import('linkedom'),
    import('@mozilla/readability'),
    import('turndown'),
  ])
  return ({ html, url }) => {
    const { document } = parseHTML(html)
    setBase(document, url)
    const article = new Readability(document, { maxElemsToParse: maxElements, charThreshold: 0 }).parse()
    if (!article?.content) return ''
    const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' })
    const body = turndown.turndown(parseHTML(`<html><body>${article.content}</body></html>`).document.body).trim()
    return article.title && body !== '' ? `# ${article.title}\n\n${body}` : body
  }
}

/** Makes relative links of the page absolute. */
function setBase(document: object, url: string): void {
  Object.defineProperty(document, 'baseURI', { value: url, configurable: true })
  Object.defineProperty(document, 'documentURI', { value: url, configurable: true })
}

void answerInThread(articleModule, loadReader)
