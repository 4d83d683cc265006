// CPU time of a service and of all that it starts. A sandbox is the parent of what runs in it without waiting for it, so that the kernel adds
// that to nobody's children: every process is looked at while it lives.
import { readFileSync } from 'node:fs'

/** Less is lost than a worker uses in this time before its end. */
const everyMs = 10

function tryRead(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const readIds = (text: string) => text.split(' ').filter((id) => id.trim() !== '')

/** The ids of the process and of all that it has started, directly or not, and that live still. */
export function listFamily(pid: string): string[] {
  const children = readIds(tryRead(`/proc/${pid}/task/${pid}/children`))
  return [pid, ...children.flatMap(listFamily)]
}

/** proc(5): utime and stime, in ticks of 10 ms. */
function readOwnCpu(pid: string): number | undefined {
  const fields = tryRead(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? []
  return fields.length < 13 ? undefined : (Number(fields[11]) + Number(fields[12])) * 10
}

/** `stop` returns the milliseconds that the family of this process has used since. */
export function watchFamilyCpu(pid: number): { stop(): number } {
  const look = () => listFamily(String(pid)).map((id) => [id, readOwnCpu(id)] as const)
  const before = new Map(look())
  const last = new Map<string, number>()
  const note = () => {
    for (const [id, used] of look()) if (used !== undefined) last.set(id, used)
  }
  const timer = setInterval(note, everyMs)
  return {
    stop() {
      clearInterval(timer)
      note()
      return [...last].reduce((sum, [id, used]) => sum + used - (before.get(id) ?? 0), 0)
    },
  }
}
