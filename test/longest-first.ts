// Files that take long start before the others of their project, so that none of them runs on alone at the end. A checkout that
// has just been made does not know how long its files take: `slowest-files.txt` does, in which they stand in that order.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const root = join(import.meta.dirname, '..')
const slowest = readFileSync(join(import.meta.dirname, 'slowest-files.txt'), 'utf8')
  .trim()
  .split('\n')

function rankOf({ moduleId }: TestSpecification): number {
  const rank = slowest.indexOf(relative(root, moduleId))
  return rank < 0 ? slowest.length : rank
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const places = new Map<string, TestSpecification[]>()
    for (const file of sorted) places.set(file.project.name, [...(places.get(file.project.name) ?? []), file])
    return [...places.values()].flatMap((ofProject) => ofProject.toSorted((a, b) => rankOf(a) - rankOf(b)))
  }
}
