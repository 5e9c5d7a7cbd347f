import { ApiError } from '../../kernel/errors.ts'
import { notFoundPage, sendErrorPage } from '../../site/error-pages.ts'
import { form } from '../../site/form.ts'
import type { Form } from '../../site/forms.ts'
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
import { decidedPath } from './undo.ts'

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
