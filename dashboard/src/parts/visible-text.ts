// Text that models, programs and repositories wrote, made safe to look at: what would move the cursor, colour or turn other text
// around is shown as a mark. React escapes the rest.

const esc = String.fromCharCode(27)
const bell = String.fromCharCode(7)
/** Colours and cursor movements of terminals (ECMA-48): CSI and OSC sequences, and those of two characters. */
const sequences = new RegExp(
  `${esc}(?:\\[[0-9;:?<=>]*[ -/]*[@-~]|\\][^${bell}${esc}]{0,4096}(?:${bell}|${esc}\\\\)|[@-Z\\\\-_])`,
  'g',
)
/** Control characters, direction overrides and what nobody sees; tabs, line feeds, joiners and soft hyphens are of use. */
const hidden = /(?![\t\n\u00ad\u200c\u200d])[\p{Cc}\p{Cf}]/gu

function showHidden(character: string): string {
  const code = character.codePointAt(0) ?? 0
  // Pictures of control characters begin at U+2400.
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? '\u2421' : `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`
}

/** Terminal sequences are taken out, other invisible characters are shown. */
export function visible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(sequences, '').replace(hidden, showHidden)
}

/** The beginning, cut between characters. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text
  const end = /[\ud800-\udbff]$/.test(text.slice(0, most)) ? most - 1 : most
  return `${text.slice(0, end)}…`
}

/** A name of the service's, `run_succeeded`, as words. */
export function spellOut(name: string): string {
  return visible(name.replaceAll('_', ' '))
}
