import { isPlainText } from '../../core/text.ts'
import { ApiError } from '../../errors.ts'
import { whyCharsMax } from '../../limits.ts'
import { decide as decided, type Decision, isDecision } from '../../operator/decisions.ts'
import type { Page } from '../layout.ts'
import { missing } from '../pages/error.ts'
import { asOwn, type Incoming, type Own, shown, takeForm } from '../people/desk.ts'
import { type Form, refuse } from '../people/form.ts'

/** An answer for the operator alone: for anyone else the address leads nowhere. */
export const asOperator = (
  incoming: Incoming,
  work: (own: Own) => Promise<Response>,
): Promise<Response> =>
  asOwn(incoming, async (own) => (own.visitor.person.operator ? work(own) : missing(own.layout)))

/** A page of the console. */
export const operatorPage = (
  incoming: Incoming,
  view: (own: Own) => Page | Promise<Page>,
): Promise<Response> => asOperator(incoming, async (own) => shown(own, await view(own)))

/** A form of the console, and its page again when it is refused. */
export const operatorForm = (
  incoming: Incoming,
  work: (own: Own, form: Form) => Promise<Response>,
  again: (own: Own, said: string, form: Form) => Page | Promise<Page>,
): Promise<Response> => asOperator(incoming, (own) => takeForm(own, work, again))

/** Who decides, as the audit log has it. */
export const byOf = ({ visitor }: Own): string => visitor.person.name

/** A decision by one of these names. Refuses not_found for another name, bad_request. */
export async function decide(
  own: Own,
  allowed: readonly Decision[],
  { name, item, why }: { name: string; item: string; why: string },
): Promise<void> {
  if (!isDecision(name) || !allowed.includes(name)) {
    throw new ApiError('not_found', { what: 'decision' })
  }
  const outcome = await decided(own.ctx, name, { item, why: why.trim(), by: byOf(own) })
  if (outcome?.ok) return
  refuse(outcome ? overtaken : neededOf(why))
}

/** Its page was opened before, or in another tab. */
const overtaken = 'Nothing was done: it is so already, or something else was decided meanwhile.'

function neededOf(why: string): string {
  return isPlainText(why, whyCharsMax)
    ? 'Say why: who is concerned is told.'
    : `A reason is plain text of at most ${whyCharsMax.toLocaleString('en')} characters.`
}
