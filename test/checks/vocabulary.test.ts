// Words that went do not come back: identifiers of src use the field's terms (docs/glossary.md).
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, it } from 'vitest'
import { listFiles, readSource } from './source-tree.ts'

/** Private words, with what says the same to a reader who knows Kubernetes, Node and model APIs. */
const gone: [RegExp, string][] = [
  [/^(seekP|p)laces?(Of)?$|[a-z]Places?(Of)?$/, 'slot, namespace, cursor, address, container, cause, location'],
  [/^spender|Spender/, 'billedTo, budgetSubject'],
  [/^(startP|p)assage$/, 'passthrough'],
  [/^(pulse|beat)$/, 'keepAlive'],
  [/^layFiles$|^lay[A-Z]/, 'writeFiles'],
  [/^(un)?told([A-Z]|$)|^tell([A-Z]|$)/, 'publish, published, pending, report'],
  [/rehears/i, 'warmUp'],
  [/narrat/i, 'progressLog'],
  [/^(carryOut|CarryingOut|workOff|obey)/, 'handle, process, runCommand'],
  [/^(letGo|giveUp|gaveUp)$/, 'detach, abandon'],
  [/^restTask$/, 'keepParked'],
  [/^(heldUp|isHeldUp|holds?|held)$/, 'rateLimitedUntil, blocked, lease, buffer'],
  [/^(patiently|patience)/, 'withRetries, grace'],
  [
    /^(knowOwnAddresses|bringAllFurther|owesCallback|findWeakness)$/,
    'setOwnAddresses, advanceAll, callbackDue, isolationGap',
  ],
  [/^(shelf|shelves)$/i, 'NamespaceIndex'],
  [/^(most|longest|least|largest)([A-Z]|$)/, 'max, min'],
  [/^(given|kept|asked|say|said)([A-Z]|$)/, 'what it is: inputs, options, stored, requested, write'],
]

/** Where a word is a name that others read: a column, a field of the wire or of a port that is stored. */
const exceptions: Record<string, string> = {
  asked: 'a field of the worker API and of a row: what a vendor asked for',
  places: 'a property of what `svc scan coverage -o json` prints',
}

function listIdentifiers(path: string): Set<string> {
  const names = new Set<string>()
  new Visitor({ Identifier: ({ name }) => void names.add(name) }).visit(parseSync(path, readSource(path)).program)
  return names
}

const sources = listFiles('src', ['.ts']).filter((path) => !path.endsWith('.test.ts'))
const found = sources.flatMap((path) =>
  [...listIdentifiers(path)].flatMap((name) => {
    const use = gone.find(([word]) => word.test(name))?.[1]
    return use === undefined ? [] : [{ path, name, use }]
  }),
)

describe('identifiers', () => {
  it('are words of the field', () => {
    const strange = found.filter(({ name }) => !(name in exceptions))
    expect(strange.map(({ path, name, use }) => `${path}: ${name} (${use})`)).toEqual([])
  })

  it('have no exception in vain', () => {
    expect(Object.keys(exceptions).filter((word) => !found.some(({ name }) => name === word))).toEqual([])
  })
})
