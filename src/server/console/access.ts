import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { idPattern } from '../../kernel/ids.ts'
import { lookUp } from '../../kernel/schema.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { withQuery } from '../../site/components.ts'
import { notFoundPage, sendErrorPage } from '../../site/error-pages.ts'
import { form } from '../../site/form.ts'
import { button, type Form, hiddenField, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import {
  handleForm,
  type PageInput,
  privatePage,
  requireUser,
  type UserRequest,
} from '../../site/session.ts'
import type { Decision } from '../operator/decisions.ts'
import { decide } from '../operator/operations.ts'

/** Decisions that another one undoes: the text of the first, and the second. */
const undoable: Partial<Record<string, readonly [done: Text, undo: Decision]>> = {
  takedown: [msg('was taken down'), 'restore'],
  hold: [msg('is quarantined'), 'release'],
  suspend: [msg('is suspended'), 'unsuspend'],
  'hide-page': [msg('has no public page now'), 'show-page'],
  pause: [msg('cannot spend credits now'), 'resume'],
  block: [msg('is blocked'), 'unblock'],
}

/** Texts of decisions without an undo. */
const final: Partial<Record<string, Text>> = {
  restore: msg('is live again'),
  release: msg('is released from quarantine'),
  dismiss: msg('has no open reports now'),
  'dismiss-page': msg('has no open reports now'),
  unsuspend: msg('is no longer suspended'),
  'show-page': msg('can show a page again'),
  resume: msg('can spend credits again'),
  rescan: msg('is scanned again'),
  unblock: msg('can be published again'),
  grant: msg('has its appeal granted'),
  deny: msg('has its appeal denied'),
  audience: msg('has its audience changed'),
  'revoke-link': msg('has a share link revoked'),
}

/** Returns the address of a page after a decision, which then has the notice. */
export const decidedPath = (path: string, done: string, item: string): string =>
  withQuery(path, { done, item })

const itemForm = /^(@?[a-z0-9][a-z0-9._@-]{2,119}|[0-9a-f]{64})$/

/** Says what was decided, with a button that undoes it where that is possible. */
export function decidedNotice({ query, token }: UserRequest, action: string): Part {
  const [done, item] = [query.get('done') ?? '', query.get('item') ?? '']
  if (!idPattern.test(item) && !itemForm.test(item)) return undefined
  const [text, undo] = lookUp(undoable, done) ?? []
  const plain = lookUp(final, done)
  if (text === undefined && plain === undefined) return undefined
  const fields = html`${hiddenField('item', item)}${hiddenField('decision', undo ?? '')}${button(t('Undo'), 'quiet slim')}`
  return html`<div class="notice" role="status">
    <span><bdi>${item}</bdi> ${text ?? plain}.</span>
    ${undo !== undefined && postForm(token, action, fields, 'inline')}
  </div>`
}

/** Runs `work` for the operator; everyone else gets the 404 page. */
export const requireOperator = (
  input: PageInput,
  work: (req: UserRequest) => Promise<Response>,
): Promise<Response> =>
  requireUser(input, async (req) =>
    req.visitor.person.operator ? work(req) : sendErrorPage(input, notFoundPage()),
  )

export const operatorPage = (
  input: PageInput,
  page: (req: UserRequest) => Page | Promise<Page>,
): Promise<Response> => requireOperator(input, async (req) => privatePage(req, await page(req)))

export const operatorForm = (
  input: PageInput,
  work: (req: UserRequest, form: Form) => Promise<Response>,
  page: (req: UserRequest, message: string, form: Form) => Page | Promise<Page>,
): Promise<Response> => requireOperator(input, (req) => handleForm(req, work, page))

/**
 * Returns a form with some decisions about an item, which leads to a page with the result. Throws
 * `not_found` for a decision that the form does not offer.
 */
export const decideAbout = (
  offered: readonly Decision[],
  itemOf: (sent: Form) => string,
  page: string,
) =>
  form(decide, {
    fields(sent) {
      const decision = offered.find((one) => one === sent.text('decision'))
      if (!decision) throw new ApiError('not_found', { what: 'decision' })
      return { decision, item: itemOf(sent), why: sent.text('why').trim() }
    },
    then: (_, sent) => decidedPath(page, sent.text('decision'), itemOf(sent)),
  })
