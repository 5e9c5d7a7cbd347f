import { idPattern, newId } from '../../core/ids.ts'
import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import { grantUsdMax } from '../../limits.ts'
import { amountOf, grant, granteeOf, hasNow } from '../../operator/grants.ts'
import { inCredits } from '../amounts.ts'
import type { Page } from '../layout.ts'
import { addressOf, dayOf, numbers, queryOf } from '../parts.ts'
import { goTo, orAgain, type Own, shown } from '../people/desk.ts'
import { field, type Form, form, hidden, notice, refuse } from '../people/form.ts'
import { consolePage } from './frame.ts'
import { byOf } from './operator.ts'

const kinds = { agent: 'Agent', person: 'Person', account: 'Gateway account' } as const
const charsMax = 120

/** What was asked for: to whom, and how much USD. */
interface Asked {
  to: string
  usd: string
}

/** Who is meant, and how much. Refuses bad_request. */
async function theGrant({ ctx }: Own, { to, usd }: Asked) {
  const grantee = await granteeOf(ctx, to.slice(0, charsMax).trim())
  if (!grantee) refuse('Nobody here is called so.')
  const amount = amountOf(usd)
  if (amount !== undefined) return { grantee, amount }
  refuse(`Give USD as a number such as 5 or 0.25, of at most ${inCredits(grantUsdMax)}.`)
}

const askForm = ({ to, usd }: Asked): Html =>
  html`<form class="form" action="/console/grants">
    ${field({ label: 'To', name: 'to', max: charsMax, value: to, hint: 'An agent’s @handle, a person’s name, or the id of a gateway account.' })}${field({ label: 'USD', name: 'usd', value: usd, max: 20, hint: '1 USD is 1,000 credits.' })}<button
      class="button"
    >
      Look who that is
    </button>
  </form>`

const askedOf = ({ request }: Own): Asked => {
  const query = queryOf(request)
  return { to: query.get('to') ?? '', usd: query.get('usd') ?? '' }
}

const place = '/console/grants'
const title = 'Give credits'
const credits = (amount: number): string => `${inCredits(amount)} credits`
/** Asks to whom and how much; after a grant it says what they have now. */
async function askPage(own: Own, asked: Asked, said?: string): Promise<Page> {
  const done = queryOf(own.request).get('done')?.slice(0, charsMax)
  const grantee = done === undefined ? undefined : await granteeOf(own.ctx, done)
  const given =
    grantee &&
    notice(
      html`Done: <bdi>${grantee.name}</bdi> has ${credits(await hasNow(own.ctx, grantee))} now.`,
    )
  const lead = 'Credits out of nothing, for an agent, a person or a gateway account.'
  return consolePage({ place, title, lead, said, main: html`${given} ${askForm(asked)}` })
}

/** Shows who would get it; sent twice it is one grant. Refuses bad_request. */
async function confirmPage(own: Own, asked: Asked): Promise<Page> {
  const { grantee, amount } = await theGrant(own, asked)
  const [more, has] = [toCredits(amount), await hasNow(own.ctx, grantee)]
  const inputs = [
    hidden('to', grantee.name),
    hidden('usd', asked.usd.trim()),
    hidden('ref', newId()),
  ]
  const buttons = html`<div class="acts">
    <button class="button">Give ${credits(more)}</button
    ><a class="button quiet" href="${addressOf(place, { to: asked.to })}">Change it</a>
  </div>`
  const main = html`${numbers([
    [kinds[grantee.kind], html`<bdi>${grantee.name}</bdi>`],
    ['Since', dayOf(iso(grantee.created))],
    ['Has now', credits(has)],
    ['Will have', credits(has + more)],
  ])}
  ${form(own.token, place, html`${inputs}${buttons}`)}`
  return consolePage({ place, title, lead: 'Is this who you mean?', main })
}

/** Asks to whom and how much, and then shows who that is. */
export function grantsPage(own: Own): Promise<Response> {
  const asked = askedOf(own)
  return orAgain(
    own,
    async () => shown(own, await (asked.usd === '' ? askPage : confirmPage)(own, asked)),
    (said) => askPage(own, asked, said),
  )
}

/** The question again, where a grant was refused. */
export const askAgain = (own: Own, said: string, sent: Form): Promise<Page> =>
  askPage(own, { to: sent.text('to'), usd: sent.text('usd') }, said)

/** Gives what was confirmed. Refuses bad_request, ref_conflict. */
export async function give(own: Own, sent: Form): Promise<Response> {
  const { grantee, amount } = await theGrant(own, { to: sent.text('to'), usd: sent.text('usd') })
  const ref = sent.text('ref')
  if (!idPattern.test(ref)) refuse('Look who that is first, then confirm it.')
  await grant(own.ctx, grantee, { amount, ref, by: byOf(own) })
  return goTo(addressOf('/console/grants', { done: grantee.name }))
}
