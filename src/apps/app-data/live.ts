import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { Upgraded } from '../../kernel/http/outcome.ts'
import type { RequestContext } from '../../kernel/http/request-context.ts'
import { checkSite } from '../../people/session-user.ts'
import { livePagesPerServerMax } from './limits.ts'
import { LiveSession } from './live-session.ts'
import { findPlayer, type PlayerCall } from './players.ts'

/**
 * Turns a request of a page into its live connection. Throws `needs_websocket`, `cross_site`,
 * `busy`, `try_again`, `not_joined`, and what `findPlayer` throws.
 */
export async function openLive(
  ctx: AppContext,
  call: PlayerCall & { context: RequestContext },
  app: string,
): Promise<Upgraded> {
  const { headers, context } = call
  const isWebSocket = headers.get('upgrade')?.toLowerCase() === 'websocket'
  if (!isWebSocket || !context.upgrade) throw new ApiError('needs_websocket')
  // Any page can open a WebSocket here, with the cookies of the player.
  checkSite(ctx, call)
  const player = await findPlayer(ctx, call, app)
  if (!player.hasJoined) throw new ApiError('not_joined', { app })
  const { sessions, limits } = ctx.state
  if (sessions.size >= livePagesPerServerMax) throw new ApiError('try_again', {})
  const release = takePlace(limits, context.client.prefix, `${app} ${player.id}`)
  const session = new LiveSession(ctx, player, call, release)
  if (context.upgrade(session, { 'x-request-id': context.id })) return new Upgraded()
  release()
  throw new ApiError('needs_websocket')
}

/** Takes a place of a network and a player. Returns the function that ends it. Throws `busy`. */
function takePlace(
  { networkPages, livePages }: AppContext['state']['limits'],
  network: string,
  player: string,
): () => void {
  const leaveNetwork = networkPages.begin(network)
  if (!leaveNetwork) {
    throw new ApiError('busy', { what: 'open pages of your network', max: networkPages.max })
  }
  const leave = livePages.begin(player)
  if (leave) {
    return () => {
      leave()
      leaveNetwork()
    }
  }
  leaveNetwork()
  throw new ApiError('busy', { what: 'open pages', max: livePages.max })
}

/** Ends live connections that may no longer be open, and keeps the rooms of this server. */
export async function keepLive(ctx: AppContext): Promise<void> {
  ctx.rooms.keep()
  const sessions = [...ctx.state.sessions].filter((one) => one instanceof LiveSession)
  for (const session of sessions) await session.check()
}
