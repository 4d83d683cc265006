// Words that say how something is asked or told, and not what about: a memory and a prompt that share no others share nothing.
import { searchTerms } from './search-terms.ts'

const words = `
  some something someone somebody somewhere anything anyone none nothing no not never nor neither either both each every everything
  everyone all other another others else same more most much many few less least several enough only just also even still yet already
  again always often usually sometimes ever once one two three first last next
  very too quite rather really instead almost perhaps maybe well now here before after during while until since because though although
  without within between among against through over under up down out off about above below via per like etc
  please may might must shall ought cannot
  say said tell ask make made give given take taken go going gone get got keep kept need want try use used using find found
  see seen look show put let come become done know think mean seem happen
  thing way lot kind sort sure okay yes`

/** As they are searched for. */
export const lightTerms: ReadonlySet<string> = new Set(searchTerms(words))
