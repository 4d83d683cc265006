// The readable text of an HTML page: its article as Markdown, or all its text.
import { ThreadPool } from '../../lib/thread-pool.ts'
import { type ArticleRequest, articleModule } from './article.ts'

type PageText = { text: string; extractor: 'readability' | 'html_text' }

type PageThreads = Pick<ThreadPool<ArticleRequest, string>, 'ask'>

const threads = new ThreadPool<ArticleRequest, string>(articleModule, {
  threads: 4,
  timeoutMs: 5000,
  memoryMegabytes: 256,
})

/** Never fails: when no article is found in time, only the tags are removed from the page. `holder`: whose it is; holders take turns. */
export async function extractPage(
  page: ArticleRequest,
  run: { holder: string; signal: AbortSignal },
  pool: PageThreads = threads,
): Promise<PageText> {
  // Deep nesting overflows the stack of the parsers.
  const article = await pool.ask(page, run).catch(() => '')
  if (article === '') return { text: stripTags(page.html), extractor: 'html_text' }
  return { text: article, extractor: 'readability' }
}

// Each pattern takes linear time on any text: no part scans past the next "<" twice.
const invisible = /<(script|style|noscript|template|svg|head)\b[\s\S]*?(<\/\1\s*>|$)/gi
const comment = /<!--[\s\S]*?(-->|$)/g
const breaking = /<\/?(p|div|br|li|ul|ol|tr|table|h[1-6]|section|article|header|footer|pre|blockquote)\b[^<>]*>/gi
const tag = /<[a-z/!?][^<>]*>/gi
const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** All text of a page without its tags. */
function stripTags(html: string): string {
  return html
    .replace(invisible, ' ')
    .replace(comment, ' ')
    .replace(breaking, '\n')
    .replace(tag, ' ')
    .replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,6});/gi, (whole, name: string) => decodeEntity(name) ?? whole)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n\s*/g, '\n')
    .trim()
}

function decodeEntity(name: string): string | undefined {
  if (!name.startsWith('#')) return entities[name.toLowerCase()]
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}
