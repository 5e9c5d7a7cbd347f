import type { Sending } from '../../paid/reach.ts'
import type { Watch } from '../../paid/watch.ts'
import type { ChatOrder } from '../order.ts'
import { limitsOf } from '../worst.ts'
import { Searching } from './searching.ts'
import { searchStream } from './stream.ts'
import { searchWhole } from './whole.ts'

/** What stands between a request that may search the web and its upstream; else undefined. */
export function throughSearch(order: ChatOrder, watch: Watch): Sending<object>['through'] {
  const { asked, ctx } = order
  const { searcher } = ctx
  if (!asked.search || !searcher) return undefined
  return (send, { model }) => {
    // Each candidate begins anew: what another did, that failed, is not paid.
    const limits = limitsOf(asked, model)
    const searching = new Searching(searcher, asked.body, limits, model.pictureTokens)
    order.searching = searching
    const serve = asked.stream ? searchStream : searchWhole
    return serve(searching, send, watch)
  }
}
