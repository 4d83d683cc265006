// Standard error as the place of the log. What cannot be written is lost and counted: an error of it never ends the service.
import { fstatSync, writeSync } from 'node:fs'

export type LogOutput = (line: string) => void

/** What writes to a file. An error of it may pass by itself: a disk that was full. */
type Write = (line: string) => void

/** Says how many lines were lost as soon as one can be written again. */
export function createLogOutput(write: Write): LogOutput {
  let lost = 0
  return (line) => {
    try {
      if (lost > 0) {
        const message = `${lost} lines of the log were lost: they could not be written`
        write(`${JSON.stringify({ level: 'warn', time: new Date().toISOString(), message })}\n`)
        lost = 0
      }
      write(line)
    } catch {
      lost += 1
    }
  }
}

function isFile(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isFile()
  } catch {
    return false
  }
}

/** A stream of Node is closed for good by its first error: files are written without one. */
export function openLogOutput({ stream = process.stderr, descriptor = 2 } = {}): LogOutput {
  // The reader of a pipe or a terminal may be gone.
  stream.on('error', () => {})
  if (!isFile(descriptor)) return createLogOutput((line) => void stream.write(line))
  return createLogOutput((line) => {
    const bytes = Buffer.from(line)
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
  })
}
