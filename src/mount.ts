import { Elysia } from 'elysia'

import { visitOf } from './core/visit.ts'
import type { House } from './house.ts'

/** A request that a part could not answer. */
interface Failed {
  request: Request
  error: unknown
  /** The path, or the method there, is none of the part's. */
  isUnmatched: boolean
  /** Logs the error as ours; `say` is given the request's id. */
  fault(say: (requestId: string) => Response): Response
}

/** What is new is not taken while the disk has less free than DISK_FLOOR_BYTES. */
const bringsMore = new Set(['POST', 'PUT'])

/** A router for one part of the house, which says no in the part's own envelope. */
export function mount(house: House, sayNo: (failed: Failed) => Response) {
  // Without the handler's setting the router takes the path of a host of one to three letters to
  // begin later than it does, so that a path in front could hide an address from the door.
  return new Elysia({ normalize: false, handler: { standardHostname: false } })
    .onError(({ error, code, request }) => {
      const fault: Failed['fault'] = (say) => {
        const { id, route } = visitOf(request)
        house.log.fault('unexpected', error, { id, route })
        return say(id)
      }
      return sayNo({ request, error, isUnmatched: code === 'NOT_FOUND', fault })
    })
    .onRequest(({ request }) => {
      // The rest is for what is under way: money is settled, things are changed or deleted.
      if (bringsMore.has(request.method)) house.store.checkRoom(0)
    })
    .onTransform({ as: 'global' }, ({ request, route }) => {
      visitOf(request).route = route
    })
}
