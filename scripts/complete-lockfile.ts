/**
 * Adds to package-lock.json the optional platform packages that a registry mirror did not know when the lockfile was
 * made, so that `npm ci` accepts it on every platform. Run after `npm install`. A registry that has the package is
 * asked for it as usual; only its checksum is missing here.
 */
import { readFileSync, writeFileSync } from 'node:fs'

type LockEntry = { version?: string; optional?: boolean; dev?: boolean; optionalDependencies?: Record<string, string> }

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, LockEntry> }
let added = 0
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const known = `${path}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages
    if (known) continue
    const [, os, cpu] = /-(android|darwin|linux|win32|freebsd|openharmony)-([a-z]+[0-9]*)/.exec(name) ?? []
    if (!os || !cpu) throw new Error(`${name}: no platform can be read from this name; add it to the lockfile by hand`)
    const platform = { cpu: [cpu], os: [os], ...(name.endsWith('-musl') ? { libc: ['musl'] } : {}) }
    const placeholder = { version, ...(entry.dev ? { dev: true } : {}), optional: true, ...platform }
    lock.packages[`node_modules/${name}`] = placeholder
    added += 1
  }
}
writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
console.log(`${added} platform packages added to package-lock.json`)
