// The latin letters of the font in the weights that the dashboard has (`scripts/subset-inter.sh`); the package has all from 100 to 900.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { Plugin } from 'vite'

const file = './files/inter-latin-wght-normal.woff2'
const ours = join(import.meta.dirname, 'inter-latin.woff2')

export function latinFont(): Plugin {
  return {
    name: 'latin-font',
    enforce: 'pre',
    load(id) {
      if (!id.endsWith('@fontsource-variable/inter/wght.css')) return undefined
      const sheet = readFileSync(id, 'utf8')
      if (!sheet.includes(file)) throw new Error(`${id} has no ${file} any more`)
      return sheet.replace(file, relative(dirname(id), ours).replaceAll('\\', '/')).replaceAll('100 900', '400 700')
    },
  }
}
