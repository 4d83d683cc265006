// Proves that the patterns of the sources take linear time, and lists the proved ones: `--all` proves those of the list again.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builders, exceptions } from '../test/checks/pattern-exceptions.ts'
import { findDoubt, listAllBuilt, listPatterns, nameOf, provedList } from '../test/checks/patterns.ts'

const path = join(import.meta.dirname, '..', provedList)
const isAll = process.argv.includes('--all')
const known = new Set(isAll ? [] : readFileSync(path, 'utf8').split('\n'))
const built = await listAllBuilt(builders)
const patterns = new Map([...listPatterns().literals, ...built].map((pattern) => [nameOf(pattern), pattern]))
const proved = [...patterns.keys()].filter((name) => known.has(name) && !(name in exceptions))
const write = () => writeFileSync(path, `${proved.sort().join('\n')}\n`)
for (const [name, pattern] of patterns) {
  if (name in exceptions || known.has(name)) continue
  const doubt = findDoubt(pattern)
  if (doubt === undefined) {
    proved.push(name)
    write()
  } else {
    console.log(`${pattern.path}:${pattern.line}: ${name}\n  ${doubt.source}\n  ${doubt.reason}`)
    process.exitCode = 1
  }
}
write()
console.log(`${proved.length} of ${patterns.size} are proved, ${Object.keys(exceptions).length} are exceptions.`)
