import { Elysia } from 'elysia'

import type { AppContext } from '../../context.ts'
import { newSecret } from '../../core/ids.ts'
import { ApiError } from '../../errors.ts'
import { enterAs, link } from '../../hosting/people/identities.ts'
import { addressFor, backPath, providerName } from '../../hosting/people/provider.ts'
import { checkFresh } from '../../hosting/people/sessions.ts'
import { isTicket, ticketMs } from '../../hosting/people/tickets.ts'
import { cookieIn, cookieName, secretForm } from '../../hosting/people/visitor.ts'
import type { Layout, Page } from '../layout.ts'
import { queryOf } from '../parts.ts'
import {
  fromOf,
  goTo,
  type Incoming,
  nextOf,
  orAgain,
  secureOf,
  sessionCookie,
  shown,
  type Visit,
  visitFor,
} from './desk.ts'
import { codesPage, signInPage } from './enter.ts'
import { accountView } from './managing.ts'
import { linkPurpose, waysIn } from './ways.ts'

/** Signing in at a provider, and linking that to an account: there, and back. */
export const elsewhere = (ctx: AppContext, layout: Layout) =>
  new Elysia()
    .get('/sign-in/oidc', ({ request }) => travelled({ ctx, layout, request }, leave))
    .get(backPath, ({ request }) => travelled({ ctx, layout, request }, arrive))

/** What a browser keeps while it is away: a secret, what it went for, and where it goes then. */
interface Trip {
  secret: string
  why: 'in' | 'link'
  next: string
}

const tripForm = `${secretForm}\\.(?:in|link)\\.[\\w-]{0,900}`

/** Lax, since the provider's site is where the browser comes back from. */
const tripCookie = (ctx: AppContext, { secret, why, next }: Trip): string =>
  `${cookieName(ctx, 'berth_trip')}=${secret}.${why}.${Buffer.from(next).toString('base64url')}; ` +
  `Path=/; HttpOnly; SameSite=Lax; Max-Age=${ticketMs / 1_000}${secureOf(ctx)}`

function tripOf(ctx: AppContext, request: Request): Trip {
  const trip = cookieIn(ctx, request, 'berth_trip', tripForm)
  const [secret, why, next = ''] = trip?.split('.') ?? []
  if (secret === undefined) throw new ApiError('sign_in_stale')
  const back = nextOf(Buffer.from(next, 'base64url').toString())
  return { secret, why: why === 'link' ? 'link' : 'in', next: back }
}

/** Whose trip it is: a browser's, and to link something that of one session in it. */
const holderOf = ({ visitor }: Visit, { secret, why, next }: Trip): string =>
  [secret, why, next, ...(why === 'link' ? [visitor?.session?.hash] : [])].join(' ')

async function leave(visit: Visit): Promise<Response> {
  const { ctx, request, token, visitor } = visit
  const query = queryOf(request)
  const ticket = query.get('link')
  if (ticket !== null) {
    if (!isTicket(ctx, linkPurpose(token), ticket)) throw new ApiError('sign_in_stale')
    checkFresh(ctx, visitor?.session)
  }
  const why = ticket === null ? 'in' : 'link'
  const trip: Trip = { secret: newSecret(), why, next: nextOf(query.get('next')) }
  return goTo(await addressFor(ctx, holderOf(visit, trip)), tripCookie(ctx, trip))
}

async function arrive(visit: Visit): Promise<Response> {
  const { ctx, request, visitor } = visit
  const trip = tripOf(ctx, request)
  const query = queryOf(request)
  const back = { holder: holderOf(visit, trip), query, from: fromOf(visit) }
  if (trip.why === 'link') {
    if (!visitor) throw new ApiError('sign_in_stale')
    await link(ctx, visitor.person, back)
    return goTo('/account')
  }
  const { secret, codes } = await enterAs(ctx, back)
  const cookie = sessionCookie(visit, secret)
  return codes.length > 0
    ? shown(visit, codesPage(codes, trip.next), cookie)
    : goTo(trip.next, cookie)
}

/** A step of such a trip; refused, the page that it began on says why. */
async function travelled(
  incoming: Incoming,
  step: (visit: Visit) => Promise<Response>,
): Promise<Response> {
  if (providerName(incoming.ctx) === undefined) {
    throw new ApiError('not_found', { what: 'address' })
  }
  const visit = await visitFor(incoming)
  const next = nextOf(queryOf(incoming.request).get('next'))
  const { token, visitor } = visit
  const again = (said: string): Page | Promise<Page> =>
    visitor
      ? accountView({ ...visit, visitor }, said)
      : signInPage({ token, next, said, ways: waysIn(visit, next) })
  return orAgain(visit, () => step(visit), again)
}
