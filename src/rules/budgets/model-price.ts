// Which price of a provider holds for a model.
import type { ModelPrice, Price, ProviderSpec } from '../../contract/kinds/providers/provider.ts'
import { compileWildcards } from '../resources/wildcards.ts'

function countLetters({ model }: ModelPrice): number {
  return model.replace(/[*?]/g, '').length
}

/** The narrowest of those that fit the model, else the one for all models. */
export function findPrice(spec: Pick<ProviderSpec, 'price' | 'prices'>, model: string): Price | undefined {
  const fitting = (spec.prices ?? []).filter((price) => compileWildcards(price.model)(model))
  const [first] = fitting.toSorted((a, b) => countLetters(b) - countLetters(a))
  if (first === undefined) return spec.price
  const { model: _model, ...price } = first
  return price
}
