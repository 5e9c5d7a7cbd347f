import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import { type Chosen, demoBuilder, findChosen } from '../models/chosen.ts'

/** The model that builds here: games may have one of their own. Refuses no_builder. */
export function theBuilder(house: House, kind: 'app' | 'game'): Chosen {
  const { builderModel, gameBuilderModel } = house.config
  const wanted = (kind === 'game' && gameBuilderModel) || builderModel || demoBuilder
  const by = findChosen(house, wanted, 'chat')
  if (!by) throw new Refusal('no_builder', {})
  return by
}
