// A program to compare with, or to talk to, in a process of its own; it says its address and ends when it is let go.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

export function startFloor(program: string, ...args: string[]): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'floors', program), ...args], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  return new Promise((resolve) =>
    child.once('message', (message) => resolve({ url: (message as { url: string }).url, child })),
  )
}
