import { idPattern, newId } from '../../core/ids.ts'
import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import { grantUsdMax } from '../../limits.ts'
import { amountOf, grant, granteeOf, hasNow } from '../../operator/grants.ts'
import { queryOf, renderDate, statList, withQuery } from '../components.ts'
import { formatCredits } from '../format.ts'
import { form, hiddenField, inputField, notice, rejectForm, type SubmittedForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import { privatePage, redirectTo, type SignedInRequest, withErrorPage } from '../session.ts'
import { operatorName } from './access.ts'
import { consolePage } from './layout.ts'

const kinds = { agent: 'Agent', person: 'Person', account: 'Gateway account' } as const
const charsMax = 120

/** What was asked for: to whom, and how much USD. */
interface GrantInput {
  to: string
  usd: string
}

/** Who is meant, and how much. Refuses bad_request. */
async function parseGrant({ ctx }: SignedInRequest, { to, usd }: GrantInput) {
  const grantee = await granteeOf(ctx, to.slice(0, charsMax).trim())
  if (!grantee) rejectForm('Nobody here is called so.')
  const amount = amountOf(usd)
  if (amount !== undefined) return { grantee, amount }
  rejectForm(`Give USD as a number such as 5 or 0.25, of at most ${formatCredits(grantUsdMax)}.`)
}

const grantForm = ({ to, usd }: GrantInput): Html =>
  html`<form class="form" action="/console/grants">
    ${inputField({ label: 'To', name: 'to', max: charsMax, value: to, hint: 'An agent’s @handle, a person’s name, or the id of a gateway account.' })}${inputField({ label: 'USD', name: 'usd', value: usd, max: 20, hint: '1 USD is 1,000 credits.' })}<button
      class="button"
    >
      Look who that is
    </button>
  </form>`

const grantInputOf = ({ request }: SignedInRequest): GrantInput => {
  const query = queryOf(request)
  return { to: query.get('to') ?? '', usd: query.get('usd') ?? '' }
}

const place = '/console/grants'
const title = 'Give credits'
const credits = (amount: number): string => `${formatCredits(amount)} credits`
/** Asks to whom and how much; after a grant it says what they have now. */
async function grantFormPage(
  signedIn: SignedInRequest,
  asked: GrantInput,
  message?: string,
): Promise<Page> {
  const done = queryOf(signedIn.request).get('done')?.slice(0, charsMax)
  const grantee = done === undefined ? undefined : await granteeOf(signedIn.ctx, done)
  const given =
    grantee &&
    notice(
      html`Done: <bdi>${grantee.name}</bdi> has ${credits(await hasNow(signedIn.ctx, grantee))} now.`,
    )
  const lead = 'Credits out of nothing, for an agent, a person or a gateway account.'
  return consolePage({ place, title, lead, message, main: html`${given} ${grantForm(asked)}` })
}

/** Shows who would get it; sent twice it is one grant. Refuses bad_request. */
async function confirmPage(signedIn: SignedInRequest, asked: GrantInput): Promise<Page> {
  const { grantee, amount } = await parseGrant(signedIn, asked)
  const [more, has] = [toCredits(amount), await hasNow(signedIn.ctx, grantee)]
  const inputs = [
    hiddenField('to', grantee.name),
    hiddenField('usd', asked.usd.trim()),
    hiddenField('ref', newId()),
  ]
  const buttons = html`<div class="acts">
    <button class="button">Give ${credits(more)}</button
    ><a class="button quiet" href="${withQuery(place, { to: asked.to })}">Change it</a>
  </div>`
  const main = html`${statList([
    [kinds[grantee.kind], html`<bdi>${grantee.name}</bdi>`],
    ['Since', renderDate(iso(grantee.created))],
    ['Has now', credits(has)],
    ['Will have', credits(has + more)],
  ])}
  ${form(signedIn.token, place, html`${inputs}${buttons}`)}`
  return consolePage({ place, title, lead: 'Is this who you mean?', main })
}

/** Asks to whom and how much, and then shows who that is. */
export function grantsPage(signedIn: SignedInRequest): Promise<Response> {
  const asked = grantInputOf(signedIn)
  return withErrorPage(
    signedIn,
    async () =>
      privatePage(
        signedIn,
        await (asked.usd === '' ? grantFormPage : confirmPage)(signedIn, asked),
      ),
    (message) => grantFormPage(signedIn, asked, message),
  )
}

/** The question again, where a grant was refused. */
export const retryGrant = (
  signedIn: SignedInRequest,
  message: string,
  submitted: SubmittedForm,
): Promise<Page> =>
  grantFormPage(signedIn, { to: submitted.text('to'), usd: submitted.text('usd') }, message)

/** Gives what was confirmed. Refuses bad_request, ref_conflict. */
export async function giveCredits(
  signedIn: SignedInRequest,
  submitted: SubmittedForm,
): Promise<Response> {
  const { grantee, amount } = await parseGrant(signedIn, {
    to: submitted.text('to'),
    usd: submitted.text('usd'),
  })
  const ref = submitted.text('ref')
  if (!idPattern.test(ref)) rejectForm('Look who that is first, then confirm it.')
  await grant(signedIn.ctx, grantee, { amount, ref, by: operatorName(signedIn) })
  return redirectTo(withQuery('/console/grants', { done: grantee.name }))
}
