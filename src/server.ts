// The service alone, for containers: what `svc up` does.
import { exitOnSignals } from './launch/start-signals.ts'

exitOnSignals()
// What takes time to load comes after it.
const { main } = await import('./compose/cli.ts')
process.exitCode = await main(['up', ...process.argv.slice(2)])
