import { isPlainText } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import { whyCharsMax } from '../../limits.ts'
import { decide as decided, type Decision, isDecision } from '../../operator/decisions.ts'
import { notFoundPage } from '../error-pages.ts'
import { rejectForm, type SubmittedForm } from '../forms.ts'
import type { Page } from '../layout.ts'
import {
  handleForm,
  type PageInput,
  privatePage,
  requireSignIn,
  type SignedInRequest,
} from '../session.ts'

/** An answer for the operator alone: for anyone else the address leads nowhere. */
export const requireOperator = (
  input: PageInput,
  work: (signedIn: SignedInRequest) => Promise<Response>,
): Promise<Response> =>
  requireSignIn(input, async (signedIn) =>
    signedIn.visitor.person.operator ? work(signedIn) : notFoundPage(signedIn.layout),
  )

/** A page of the console. */
export const operatorPage = (
  input: PageInput,
  view: (signedIn: SignedInRequest) => Page | Promise<Page>,
): Promise<Response> =>
  requireOperator(input, async (signedIn) => privatePage(signedIn, await view(signedIn)))

/** A form of the console, and its page again when it is refused. */
export const operatorForm = (
  input: PageInput,
  work: (signedIn: SignedInRequest, form: SubmittedForm) => Promise<Response>,
  again: (signedIn: SignedInRequest, message: string, form: SubmittedForm) => Page | Promise<Page>,
): Promise<Response> => requireOperator(input, (signedIn) => handleForm(signedIn, work, again))

/** Who decides, as the audit log has it. */
export const operatorName = ({ visitor }: SignedInRequest): string => visitor.person.name

/** A decision by one of these names. Refuses not_found for another name, bad_request. */
export async function applyDecision(
  signedIn: SignedInRequest,
  allowed: readonly Decision[],
  { name, item, why }: { name: string; item: string; why: string },
): Promise<void> {
  if (!isDecision(name) || !allowed.includes(name)) {
    throw new ApiError('not_found', { what: 'decision' })
  }
  const outcome = await decided(signedIn.ctx, name, {
    item,
    why: why.trim(),
    by: operatorName(signedIn),
  })
  if (outcome?.ok) return
  rejectForm(outcome ? overtaken : reasonMessage(why))
}

/** Its page was opened before, or in another tab. */
const overtaken = 'Nothing was done: it is so already, or something else was decided meanwhile.'

function reasonMessage(why: string): string {
  return isPlainText(why, whyCharsMax)
    ? 'Say why: who is concerned is told.'
    : `A reason is plain text of at most ${whyCharsMax.toLocaleString('en')} characters.`
}
