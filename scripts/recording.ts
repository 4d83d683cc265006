/**
 * The recording in README: a real run, as a picture that moves (SVG with animations of CSS, which needs no script).
 *
 *   npm run recording          writes docs/pictures/run.svg
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const root = join(import.meta.dirname, '..')
const prompt = 'write hello to notes.txt, then read notes.txt'
const [columns, lineHeight, charWidth, margin] = [96, 19, 7.85, 18]
/** The end stays in sight so long before it begins anew, in seconds. */
const rest = 5

type Line = { at: number; text: string }

/** What a command says of its progress, line by line, with the second in which each one came. */
function record(args: string[], env: NodeJS.ProcessEnv): Promise<Line[]> {
  const begin = performance.now()
  const lines: Line[] = []
  const child = spawn('npx', ['svc', ...args], { env, cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
  child.stderr.on('data', (part: Buffer) => {
    const at = (performance.now() - begin) / 1000
    const texts = stripVTControlCharacters(part.toString()).replaceAll(home, '~').split('\n')
    lines.push(...texts.filter((text) => text !== '').map((text) => ({ at, text: text.slice(0, columns) })))
  })
  return new Promise((resolve) => child.once('close', () => resolve(lines)))
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function draw(lines: Line[]): string {
  const whole = (lines.at(-1)?.at ?? 0) + rest
  const [width, height] = [Math.round(columns * charWidth) + 2 * margin, lines.length * lineHeight + 3 * margin]
  const texts = lines.map(({ text }, index) => {
    const y = 2.5 * margin + index * lineHeight
    const name = index === 0 ? 'typed' : 'line'
    return `<text class="${name}" x="${margin}" y="${y}" style="animation-name:l${index}" xml:space="preserve">${escapeXml(text)}</text>`
  })
  const frames = lines.map(({ at }, index) => {
    const percent = Math.min(99, (at / whole) * 100).toFixed(1)
    return `@keyframes l${index}{0%{opacity:0}${percent}%{opacity:0}${(Number(percent) + 0.1).toFixed(1)}%{opacity:1}100%{opacity:1}}`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: svc runs a task and prints its result">
<style>text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d7dce2;animation:${whole.toFixed(1)}s infinite}.typed{fill:#8fd18f}${frames.join('')}@media (prefers-reduced-motion:reduce){text{animation:none}}</style>
<rect width="${width}" height="${height}" rx="8" fill="#15191f"/><circle cx="18" cy="16" r="5" fill="#e5655a"/><circle cx="34" cy="16" r="5" fill="#e3b24c"/><circle cx="50" cy="16" r="5" fill="#6ac06a"/>
${texts.join('\n')}
</svg>
`
}

const home = mkdtempSync(join(tmpdir(), 'svc-recording-'))
const { PATH, LANG = 'C.UTF-8' } = process.env
const env = {
  PATH,
  LANG,
  HOME: home,
  SVC_DATA_DIR: join(home, 'data'),
  SVC_CONFIG_DIR: join(home, 'config'),
  SVC_PORT: '0',
}
try {
  // The first command starts the service, which the next ones find.
  await record(['run', 'say hello'], env)
  const lines = await record(['run', prompt], env)
  const typed = { at: 0, text: `$ npx svc run "${prompt}"` }
  writeFileSync(
    join(root, 'docs', 'pictures', 'run.svg'),
    draw([typed, ...lines.map((line) => ({ ...line, at: line.at + 0.6 }))]),
  )
} finally {
  await record(['down', '--yes'], env)
  rmSync(home, { recursive: true, force: true })
}
