// Markdown of others as elements: no HTML is made of it, nothing is loaded by it, and links lead to https alone.
import { createElement, type ReactNode, useMemo } from 'react'
import { ColouredCode } from '../code/coloured-code.tsx'
import { CopyButton } from '../copy-button.tsx'
import { ForeignBlock } from '../foreign.tsx'
import { visible } from '../visible-text.ts'
import { settleLevels } from './heading-levels.ts'
import { type Block, type Inline, type Item, readMarkdown } from './tokens.ts'
import './markdown.css'

/** What is longer is shown as it is written. */
const longest = 40_000

/** What cannot be read as Markdown is shown as it is written. */
function tryRead(text: string, headings: number): Block[] | undefined {
  if (text.length > longest) return undefined
  try {
    return settleLevels(readMarkdown(visible(text)), headings)
  } catch {
    return undefined
  }
}

type MarkdownProps = {
  text: string
  label: string
  /** Level of its first headings: below the one that it stands under. */
  headings?: number
}

export function Markdown({ text, label, headings = firstHeading }: MarkdownProps) {
  const blocks = useMemo(() => tryRead(text, headings), [text, headings])
  if (blocks === undefined) return <ForeignBlock text={text} label={label} />
  return (
    <div className="markdown foreign" dir="auto">
      <Blocks blocks={blocks} isTop />
    </div>
  )
}

function Blocks({ blocks, isTop = false }: { blocks: Block[]; isTop?: boolean }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other name, and grow at the end
  return blocks.map((block, index) => <OneBlock key={index} block={block} isTop={isTop} />)
}

/** The page has its own first heading. */
const firstHeading = 2

function OneBlock({ block, isTop }: { block: Block; isTop: boolean }): ReactNode {
  switch (block.type) {
    case 'paragraph':
      return (
        <p dir="auto">
          <Parts parts={block.children} />
        </p>
      )
    case 'heading':
      return createElement(isTop ? `h${block.level}` : 'strong', { dir: 'auto' }, <Parts parts={block.children} />)
    case 'code':
      return <Code {...block} />
    case 'list':
      return <List {...block} />
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      )
    case 'table':
      return <Rows {...block} />
    case 'rule':
      return <hr />
  }
}

function Code({ language, text }: { language: string; text: string }) {
  return (
    <div className="code">
      <div className="code-head">
        <span className="soft">{language}</span>
        <CopyButton text={text} what="code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} dir="ltr">
        <code>
          <ColouredCode language={language} text={text} />
        </code>
      </pre>
    </div>
  )
}

function List({ isOrdered, start, items }: Extract<Block, { type: 'list' }>) {
  const entries = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items have no other name
    <li key={index} dir="auto" className={item.isDone === undefined ? undefined : 'task-item'}>
      {item.isDone !== undefined && (
        <input type="checkbox" checked={item.isDone} disabled aria-label={item.isDone ? 'done' : 'to do'} />
      )}
      <ItemContent {...item} />
    </li>
  ))
  return isOrdered ? <ol start={start}>{entries}</ol> : <ul>{entries}</ul>
}

/** A single paragraph stands beside its mark. */
function ItemContent({ blocks }: Item) {
  const [only, ...more] = blocks
  return only?.type === 'paragraph' && more.length === 0 ? <Parts parts={only.children} /> : <Blocks blocks={blocks} />
}

function Rows({ head, rows }: Extract<Block, { type: 'table' }>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div className="wide-table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other name
              <th key={index} scope="col">
                <Parts parts={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other name
            <tr key={at}>
              {row.map((cell, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other name
                <td key={index}>
                  <Parts parts={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Parts({ parts }: { parts: Inline[] }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name
  return parts.map((part, index) => <Part key={index} part={part} />)
}

const tags = { strong: 'strong', emphasis: 'em', strike: 's' } as const

function Part({ part }: { part: Inline }): ReactNode {
  switch (part.type) {
    case 'text':
      return part.text
    case 'code':
      return <code>{part.text}</code>
    case 'break':
      return <br />
    case 'link':
      return (
        <a className="text-link" href={part.href} target="_blank" rel="noreferrer noopener" title={part.href}>
          <Parts parts={part.children} />
        </a>
      )
    default: {
      const Tag = tags[part.type]
      return (
        <Tag>
          <Parts parts={part.children} />
        </Tag>
      )
    }
  }
}
