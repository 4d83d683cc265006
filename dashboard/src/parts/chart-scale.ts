// Where the lines of a chart stand, and which of its bars are named.

const lines = 4
const names = 7

/** The numbers at which lines are drawn, from 0 up to the first one that no bar exceeds. Counts get no halves. */
export function ticksUpTo(highest: number, isOfWholes: boolean): number[] {
  if (!(highest > 0)) return [0, 1]
  const rough = highest / lines
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const size = isOfWholes ? Math.max(1, step) : step
  // A product has the error of one rounding, a sum that of all.
  return Array.from({ length: Math.ceil(highest / size - 1e-9) + 1 }, (_, at) => at * size)
}

/** The distance from one named bar to the next. */
export const namedEvery = (bars: number): number => Math.max(1, Math.ceil(bars / names))
