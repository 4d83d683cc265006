/** Compresses the files of a folder once, so that no answer has to. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { codings } from '../src/http/dashboard/dashboard.ts'

const compressors = {
  br: (body: Buffer) => {
    const params = { [zlib.BROTLI_PARAM_SIZE_HINT]: body.length, [zlib.BROTLI_PARAM_QUALITY]: 11 }
    return promisify(brotliCompress)(body, { params })
  },
  gzip: (body: Buffer) => promisify(gzip)(body, { level: 9 }),
}

/** Pictures and fonts are compressed already. */
const compressible = /\.(?:html|js|css|svg|json|webmanifest|txt)$/

async function compress(file: string, coding: keyof typeof codings): Promise<void> {
  const body = readFileSync(file)
  const smaller = await compressors[coding](body)
  if (smaller.length < body.length) writeFileSync(file + codings[coding], smaller)
}

/** Lays `NAME.br` and `NAME.gz` beside each file that they are smaller than. */
export async function compressFiles(folder: string): Promise<void> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => compressible.test(name))
  const all = files.flatMap((name) => [compress(join(folder, name), 'br'), compress(join(folder, name), 'gzip')])
  await Promise.all(all)
}
