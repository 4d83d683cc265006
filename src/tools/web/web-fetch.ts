// web_fetch: the text of a web page (BUILT-009..011). Any answer of the server is a result, even an error.
import { z } from 'zod'
import type { EgressResponse } from '../../ports/service/egress.ts'
import { defineTool } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { requestWithin } from './bounded-request.ts'
import { extractPage } from './page-text.ts'

const maxBodyBytes = 5 * 1_048_576
const defaultChars = 50_000
/** Shorter than the usual limit of a tool call, so that the message says what took so long. */
const timeoutMs = 50_000
const accept = 'text/html, application/xhtml+xml, application/json, text/*;q=0.9, */*;q=0.5'

type Extractor = 'json' | 'readability' | 'html_text' | 'text' | 'raw' | 'none'

export const webFetch = defineTool({
  name: 'web_fetch',
  description: 'Reads a web page as Markdown, JSON and plain text as they are. A status such as 404 is a result.',
  parameters: z.strictObject({
    url: z.string().min(1).max(8192).describe('http(s) address'),
    max_chars: z.int().min(1).max(maxBodyBytes).default(defaultChars).describe('Most characters'),
    raw: z.boolean().default(false).describe('Body unchanged'),
  }),
  repeatable: true,
  ownsOutputLimit: true,
  async run({ url, max_chars, raw }, context, signal) {
    const problem = findUrlProblem(url)
    if (problem !== undefined) return failTool('invalid_arguments', problem)
    const request = {
      url,
      method: 'GET',
      headers: { accept, 'user-agent': 'svc-web-fetch' },
      maxBytes: maxBodyBytes,
      maxRedirects: 5,
      policy: context.egressPolicy,
    }
    const answer = await requestWithin(context.egress, { ...request, timeoutMs }, signal)
    if (answer === 'timeout') return failTool('timeout', `${new URL(url).host} did not answer in ${timeoutMs / 1000} s`)
    const { text, extractor, note } = await readContent(answer, raw, { holder: context.caller ?? '', signal })
    const content = headOfCharacters(text, max_chars)
    return {
      success: true,
      url: answer.url,
      status: answer.status,
      content_type: answer.headers['content-type'] ?? '',
      content,
      length: text.length,
      truncated: content.length < text.length || answer.truncated,
      extractor,
      note,
    }
  },
})

function findUrlProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return `url: "${text.slice(0, 200)}" is not an address; write it like https://example.com/page`
  if (!/^https?:$/.test(url.protocol)) return `url: ${url.protocol} cannot be fetched, only http and https`
  if (url.username !== '' || url.password !== '') return 'url: must not contain a user name or password'
  return undefined
}

type Content = { text: string; extractor: Extractor; note?: string }

async function readContent(
  answer: EgressResponse,
  raw: boolean,
  run: { holder: string; signal: AbortSignal },
): Promise<Content> {
  const type = (answer.headers['content-type'] ?? '').toLowerCase()
  if (isBinary(type, answer.body)) {
    const size = `${answer.body.length} bytes${answer.truncated ? ' and more' : ''}`
    return { text: '', extractor: 'none', note: `not text: ${type || 'unknown type'}, ${size}` }
  }
  const body = decodeBody(answer.body, type)
  if (raw) return { text: body, extractor: 'raw' }
  if (/\bjson\b|\+json/.test(type)) return { text: body, extractor: 'json' }
  if (type.includes('html') || (type === '' && /^\s*<(!doctype html|html)/i.test(body))) {
    return await extractPage({ html: body, url: answer.url }, run)
  }
  return { text: body, extractor: 'text' }
}

const textTypes =
  /^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript|ecmascript|yaml|x-yaml|toml|x-ndjson|xhtml\+xml|rtf|sql))/

function isBinary(type: string, body: Buffer): boolean {
  return !textTypes.test(type) && body.subarray(0, 8192).includes(0)
}

function decodeBody(body: Buffer, type: string): string {
  const label = /charset\s*=\s*"?([\w.:-]+)/.exec(type)?.[1] ?? findMetaCharset(body, type) ?? 'utf-8'
  try {
    return new TextDecoder(label).decode(body)
  } catch {
    return new TextDecoder().decode(body)
  }
}

/** A page may declare its encoding only in its own text (HTML standard, "prescan a byte stream"). */
function findMetaCharset(body: Buffer, type: string): string | undefined {
  if (!type.includes('html')) return undefined
  return /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(body.subarray(0, 1024).toString('latin1'))?.[1]
}

/** Never ends within a surrogate pair. */
function headOfCharacters(text: string, count: number): string {
  if (text.length <= count) return text
  const head = text.slice(0, count)
  return head.isWellFormed() ? head : head.slice(0, -1)
}
