import { newId } from '../core/ids.ts'
import { type Html, html } from '../core/markup.ts'
import { copyLine } from './components.ts'
import { hiddenField, rejectForm, type SubmittedForm } from './forms.ts'
import type { Page } from './layout.ts'
import { privatePage, type SignedInRequest } from './session.ts'

/** A key that a form asks for: what it is good for, and where one goes on. */
interface KeyRequest {
  make(): Promise<string>
  what: string
  back: string
}

/** Names the key that a form would make: sent twice, it makes one. */
export const keyRefField = (): Html => hiddenField('ref', newId())

/**
 * Makes a key and shows it. A page that is loaded again sends its form again, and would make a
 * second key in the place of the one that was copied. Refuses bad_request.
 */
export async function createAndShowKey(
  signedIn: SignedInRequest,
  submitted: SubmittedForm,
  { make, ...told }: KeyRequest,
): Promise<Response> {
  const { ctx, visitor } = signedIn
  const ref = submitted.text('ref') || undefined
  const { body: key } = await ctx.idempotency.run(visitor.person.id, ref, {}, async (keep) => {
    const made = await make()
    // What is kept is that there was one, and never its text.
    await ctx.db.tx((db) => keep(db, { status: 200, body: null }))
    return { status: 200, body: made }
  })
  if (typeof key === 'string') return privatePage(signedIn, keyPage(key, told))
  rejectForm('This key was made before and shown only then. If you lost it, make another.')
}

/** A key, shown once. */
function keyPage(key: string, { what, back }: Omit<KeyRequest, 'make'>): Page {
  const main = html`<div class="narrow">
    <h1>Keep this key</h1>
    <p class="lead">${what} It is shown only now.</p>
    ${copyLine(key, 'The key')}
    <p class="acts"><a class="button" href="${back}">I have kept it</a></p>
  </div>`
  return { title: 'A new key', main, scripts: ['copy-line.js'] }
}
