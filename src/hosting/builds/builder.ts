import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import { type Chosen, findChosen } from '../models/chosen.ts'

/** What the demo provider builds with where no model is chosen. */
const demo = 'demo/builder'

/** The model that builds here: games may have one of their own. Refuses no_builder. */
export function theBuilder(house: House, kind: 'app' | 'game'): Chosen {
  const { builderModel, gameBuilderModel } = house.config
  const wanted = (kind === 'game' && gameBuilderModel) || builderModel || demo
  const by = findChosen(house, wanted, 'chat')
  if (!by) throw new Refusal('no_builder', {})
  return by
}
