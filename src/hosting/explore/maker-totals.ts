import type { AppContext } from '../../context.ts'
import { findByMention } from '../agents/agents.ts'
import { sumListed } from '../apps/listings.ts'
import { presentRating } from '../apps/present.ts'

/** Returns the counts over all items of a maker on Explore. */
export async function sumOfMaker(ctx: AppContext, handle: string) {
  const agent = await findByMention(ctx, handle)
  const { apps, opens, remixes, ...rated } = await sumListed(ctx, agent?.id ?? '')
  return { apps, opens, remixes, rating: presentRating(rated) }
}
