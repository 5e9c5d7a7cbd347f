import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { idPattern, newId } from '../../kernel/ids.ts'
import { toCredits } from '../../kernel/money.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { listAudit } from '../../people/audit/audit.ts'
import { statList, withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { renderDate, renderDateTime, shortCredits } from '../../site/format.ts'
import { button, type Form, hiddenField, inputField, notice, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { tableSection } from '../../site/lists.ts'
import { privatePage, type UserRequest, withErrorPage } from '../../site/session.ts'
import { creditsOf, findGrantee, readGrant } from '../operator/grants.ts'
import { giveCredits } from '../operator/operations.ts'
import { consolePage } from './components.ts'

const kinds = {
  agent: msg('Agent'),
  person: msg('Person'),
  account: msg('Gateway account'),
} as const
const charsMax = 120
const [decisionsRead, grantsShown] = [200, 10]

interface GrantInput {
  to: string
  usd: string
}

const grantForm = ({ to, usd }: GrantInput): Html =>
  html`<form class="form" action="/console/grants">
    ${inputField({ label: t('Recipient'), name: 'to', max: charsMax, value: to, hint: t('An agent’s @handle, a person’s name or a gateway account ID.') })}${inputField({ label: 'USD', name: 'usd', value: usd, max: 20, hint: t('1 USD is 1,000 credits.') })}${button(t('Continue'))}
  </form>`

const grantInputOf = ({ query }: UserRequest): GrantInput => {
  return { to: query.get('to') ?? '', usd: query.get('usd') ?? '' }
}

const place = '/console/grants'
const title = msg('Grant credits')
const credits = (amount: number): string => t('{amount} credits', { amount: shortCredits(amount) })

/** Renders the form, with the new balance after a grant. */
async function grantFormPage(
  req: UserRequest,
  grantInput: GrantInput,
  message?: string,
): Promise<Page> {
  const done = req.query.get('done')?.slice(0, charsMax)
  const grantee = done === undefined ? undefined : await findGrantee(req.ctx, done)
  const given =
    grantee &&
    notice(
      html`Credits granted. New balance of <bdi>${grantee.name}</bdi>:
        ${credits(await creditsOf(req.ctx, grantee))}.`,
    )
  const lead = t('Create credits for an agent, a person or a gateway account.')
  const main = html`${given} ${grantForm(grantInput)} ${await recentGrants(req)}`
  return consolePage({ place, title, lead, message, main })
}

/** The grants among the newest decisions. */
async function recentGrants({ ctx }: UserRequest): Promise<Part> {
  const decisions = await listAudit(ctx, decisionsRead)
  const grants = decisions.filter(({ did }) => did === 'grant').slice(0, grantsShown)
  return (
    grants.length > 0 &&
    tableSection(
      t('Recent grants'),
      [t('Time'), { long: t('Recipient') }, { number: t('Amount') }, t('By')],
      grants.map(({ at, item, why, by }) => [
        renderDateTime(at),
        html`<bdi>${item}</bdi>`,
        why,
        html`<bdi>${by}</bdi>`,
      ]),
    )
  )
}

/** Renders the recipient for confirmation. Throws `bad_request`. */
async function confirmPage(req: UserRequest, grantInput: GrantInput): Promise<Page> {
  const { grantee, amount } = await readGrant(req.ctx, {
    ...grantInput,
    to: grantInput.to.slice(0, charsMax),
  })
  const [more, has] = [toCredits(amount), await creditsOf(req.ctx, grantee)]
  const inputs = [
    hiddenField('to', grantee.name),
    hiddenField('usd', grantInput.usd.trim()),
    hiddenField('ref', newId()),
  ]
  const buttons = html`<div class="actions">
    ${button(t('Grant {credits}', { credits: credits(more) }))}<a
      class="button quiet"
      href="${withQuery(place, { to: grantInput.to })}"
      >Edit</a
    >
  </div>`
  const main = html`${statList([
    [kinds[grantee.kind], html`<bdi>${grantee.name}</bdi>`],
    [t('Amount'), html`${credits(more)} <span class="small">${grantInput.usd.trim()} USD</span>`],
    [t('Created'), renderDate(grantee.created)],
    [t('Current balance'), credits(has)],
    [t('New balance'), credits(has + more)],
  ])}
  ${postForm(req.token, place, html`${inputs}${buttons}`)}`
  return consolePage({ place, title, lead: t('Check the recipient before you confirm.'), main })
}

export function grantsPage(req: UserRequest): Promise<Response> {
  const grantInput = grantInputOf(req)
  return withErrorPage(
    req,
    async () =>
      privatePage(
        req,
        await (grantInput.usd === '' ? grantFormPage : confirmPage)(req, grantInput),
      ),
    (message) => grantFormPage(req, grantInput, message),
  )
}

export const retryGrant = (req: UserRequest, message: string, submitted: Form): Promise<Page> =>
  grantFormPage(req, { to: submitted.text('to'), usd: submitted.text('usd') }, message)

/** Grants credits after the confirmation. */
export const confirmedGrant = form(giveCredits, {
  ref: (sent) =>
    idPattern.test(sent.text('ref'))
      ? sent.text('ref')
      : rejectRequest(t('Confirm the recipient first.')),
  then: ({ to }) => withQuery(place, { done: to }),
})
