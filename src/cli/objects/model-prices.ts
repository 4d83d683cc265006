// Prices of models as they are typed: `large-*=3/15/0.3/3.75 EUR`, per million tokens.
import type { ModelPrice } from '../../contract/kinds/providers/provider.ts'
import { SvcError } from '../../errors.ts'

const amounts = ['inputPerMillion', 'outputPerMillion', 'cachedInputPerMillion', 'cacheWritePerMillion'] as const

function refuse(text: string): never {
  throw new SvcError(
    'InvalidRequest',
    `--price \`${text}\` must be MODEL=IN/OUT[/CACHED[/WRITTEN]], such as 'large-*=3/15/0.3/3.75 EUR'; MODEL= takes one out`,
  )
}

/** Undefined: the model's price is taken out. */
function readPrice(text: string): { model: string; price: ModelPrice | undefined } {
  // Names of models may hold everything but what a price is made of at the end.
  const [, model, figures = '', currency] = /^(.+)=([\d./]*)(?: ([A-Z]{3}))?$/.exec(text) ?? refuse(text)
  if (model === undefined) refuse(text)
  if (figures === '') return { model, price: undefined }
  const numbers = figures.split('/')
  const isWrong =
    numbers.length < 2 || numbers.length > amounts.length || !numbers.every((one) => /^\d+(\.\d+)?$/.test(one))
  if (isWrong) refuse(text)
  const priced = Object.fromEntries(numbers.map((one, index) => [amounts[index], Number(one)]))
  return { model, price: { model, ...priced, ...(currency !== undefined && { currency }) } as ModelPrice }
}

/** The table with these prices in the place of those that their models had. */
export function mergePrices(before: readonly ModelPrice[], texts: readonly string[]): ModelPrice[] | undefined {
  const table = new Map(before.map((price) => [price.model, price]))
  for (const { model, price } of texts.map(readPrice)) {
    if (price === undefined) table.delete(model)
    else table.set(model, price)
  }
  return table.size === 0 ? undefined : [...table.values()]
}
