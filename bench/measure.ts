// Percentiles, tables and the machine's name, for every bench.
import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'

/** The value below which `share` of the samples lie; 0 of none. */
export function percentile(samples: number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function describeMachine(): string {
  const [first] = cpus()
  return `${cpus().length} x ${first?.model ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
}

/** Resident memory of a process in MiB, by /proc. */
export function residentMemory(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = /VmRSS:\s+(\d+)/.exec(status)?.[1]
  return Number(kilobytes ?? 0) / 1024
}

/** The same in KiB, where each page that several processes have is shared among them (proc(5): Pss); 0 where it is gone. */
export function readPss(pid: number | string): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Milliseconds of CPU that a process has used (proc(5): utime and stime, in hundredths of a second). */
export function readCpu(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export type Row = Record<string, string | number>

/** A Markdown table, and the same as one JSON line. */
export function report(bench: string, rows: Row[]): void {
  const titles = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  console.log(`\n${bench} on ${describeMachine()}\n`)
  console.log(`| ${titles.join(' | ')} |`)
  console.log(`|${titles.map(() => '---').join('|')}|`)
  for (const row of rows) console.log(`| ${titles.map((title) => row[title] ?? '').join(' | ')} |`)
  console.log(`\n${JSON.stringify({ bench, machine: describeMachine(), rows })}`)
}

export function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits))
}
