// The last lines of `npm test`: what it leaves out, and how that is run.
import type { Reporter } from 'vitest/node'

export class LeftOut implements Reporter {
  readonly #environments: readonly string[]

  constructor(environments: readonly string[]) {
    this.#environments = environments
  }

  onTestRunEnd(): void {
    console.log(`Left out: ${this.#environments.join(', ')} (test/environments), and the tests on a cluster.`)
    console.log(
      '`npm run test:all` runs everything but the cluster, `npx vitest run --project environment:NAME` one of these.',
    )
  }
}
