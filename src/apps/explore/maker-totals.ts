import { findByMention } from '../../people/agents/agents.ts'
import type { AppContext } from '../../server/context.ts'
import { sumListed } from '../listings.ts'
import { presentRating } from '../present.ts'

/** Returns the counts over all items of a maker on Explore. */
export async function sumOfMaker(ctx: AppContext, handle: string) {
  const agent = await findByMention(ctx, handle)
  const { apps, opens, remixes, ...rated } = await sumListed(ctx, agent?.id ?? '')
  return { apps, opens, remixes, rating: presentRating(rated) }
}
