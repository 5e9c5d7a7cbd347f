import { ApiError } from '../../kernel/errors.ts'
import { decisionReasonCharsMax } from '../../kernel/limits.ts'
import { isPlainText } from '../../kernel/text.ts'
import { notFoundPage, sendErrorPage } from '../../site/error-pages.ts'
import { type Form, rejectForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import {
  handleForm,
  type PageInput,
  privatePage,
  requireUser,
  type UserRequest,
} from '../../site/session.ts'
import { decide as decided, type Decision, isDecision } from '../operator/decisions.ts'

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

/** The name in the audit log. */
export const operatorName = ({ visitor }: UserRequest): string => visitor.person.name

/** Applies one of the allowed decisions. Throws `not_found` for others, `bad_request`. */
export async function applyDecision(
  req: UserRequest,
  allowed: readonly Decision[],
  { name, item, why }: { name: string; item: string; why: string },
): Promise<void> {
  if (!isDecision(name) || !allowed.includes(name)) {
    throw new ApiError('not_found', { what: 'decision' })
  }
  const outcome = await decided(req.ctx, name, {
    item,
    why: why.trim(),
    by: operatorName(req),
  })
  if (outcome?.ok) return
  rejectForm(outcome ? alreadyDecided : reasonMessage(why))
}

const alreadyDecided =
  'Nothing changed: this was already decided, here or in another tab. Reload the page.'

function reasonMessage(why: string): string {
  return isPlainText(why, decisionReasonCharsMax)
    ? 'Enter a reason. The person or agent concerned receives it.'
    : `Enter a reason in plain text of at most ${decisionReasonCharsMax.toLocaleString('en')} characters.`
}
