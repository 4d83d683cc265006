// `npm run bench -- NAME [options]`: one bench after another, each printing a table and a JSON line.
import setUp from '../test/fixtures/built-program.ts'

const benches: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  start: () => import('./start.ts'),
  api: () => import('./api.ts'),
  auth: () => import('./auth.ts'),
  tasks: () => import('./tasks.ts'),
  density: () => import('./density.ts'),
  proxy: () => import('./proxy.ts'),
  network: () => import('./network.ts'),
  'output-check': () => import('./output-check.ts'),
  cluster: () => import('./cluster.ts'),
  chat: () => import('./chat.ts'),
  watch: () => import('./watch.ts'),
  records: () => import('./records.ts'),
  usage: () => import('./usage.ts'),
  trace: () => import('./trace.ts'),
  'codehost-inventory': () => import('./codehost-inventory.ts'),
  memory: () => import('./memory.ts'),
  coordination: () => import('./coordination.ts'),
  workspace: () => import('./workspace.ts'),
  sandboxes: () => import('./sandboxes.ts'),
  'local-workspaces': () => import('./local-workspaces.ts'),
  agent: () => import('./agent.ts'),
  scan: () => import('./scan.ts'),
  codehost: () => import('./codehost.ts'),
  dashboard: () => import('./dashboard.ts'),
  'first-pull-request': () => import('./first-pull-request.ts'),
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !(name in benches))
if (names.length === 0 || unknown.length > 0) {
  console.error(`usage: npm run bench -- ${Object.keys(benches).join('|')} ...`)
  process.exit(2)
}
const removeProgram = process.env.BENCH_PROGRAM === undefined ? await layProgram() : undefined
for (const name of names) await (await benches[name]?.())?.run()
removeProgram?.()

async function layProgram(): Promise<() => void> {
  const remove = await setUp()
  process.env.BENCH_PROGRAM = process.env.SVC_TEST_PROGRAM
  return remove
}
