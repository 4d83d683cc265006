import { describe, expect, it } from 'vitest'
import { shorten, visible } from './visible-text.ts'

const esc = String.fromCharCode(27)
const bell = String.fromCharCode(7)

describe('text of others', () => {
  it('has no colours, cursor movements, titles and links of terminals', () => {
    const text = `${esc}[1;31mred${esc}[0m ${esc}]0;title${bell}x ${esc}]8;;http://a${esc}\\link${esc}]8;;${esc}\\ ${esc}[2J${esc}[3;4Hy`
    expect(visible(text)).toBe('red x link y')
  })

  it('shows what would turn text around or be invisible as a mark', () => {
    expect(visible('invoice\u202efdp.exe')).toBe('invoice⟨U+202E⟩fdp.exe')
    expect(visible('a\u200bb\ufeffc\u2066d')).toBe('a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+2066⟩d')
    expect(visible(`bell${bell} del\u007f nul\u0000`)).toBe('bell␇ del␡ nul␀')
    expect(visible('tag\u{e0041}')).toBe('tag⟨U+E0041⟩')
  })

  it('keeps lines, tabs, joined emoji and right-to-left words', () => {
    for (const text of ['a\n\tb', '👩‍💻', 'שלום', 'می‌خواهم']) expect(visible(text)).toBe(text)
    expect(visible('a\r\nb')).toBe('a\nb')
  })

  it('reads a sequence that never ends in time that grows with its length', () => {
    expect(visible(`${esc}]${'x'.repeat(1_000_000)}`)).toHaveLength(1_000_000)
  })

  it('is cut between characters', () => {
    expect(shorten('ab😀c', 3)).toBe('ab…')
    expect(shorten('ab😀c', 4)).toBe('ab😀…')
    expect(shorten('ab', 2)).toBe('ab')
  })
})
