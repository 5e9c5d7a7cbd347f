import { newId } from '../../core/ids.ts'
import { type Html, html } from '../../core/markup.ts'
import type { Page } from '../layout.ts'
import { copyLine } from '../parts.ts'
import { type Own, shown } from './desk.ts'
import { type Form, hidden, refuse } from './form.ts'

/** A key that a form asks for: what it is good for, and where one goes on. */
interface Wanted {
  make(): Promise<string>
  what: string
  back: string
}

/** Names the key that a form would make: sent twice, it makes one. */
export const keyRef = (): Html => hidden('ref', newId())

/**
 * Makes a key and shows it. A page that is loaded again sends its form again, and would make a
 * second key in the place of the one that was copied. Refuses bad_request.
 */
export async function newKey(own: Own, sent: Form, { make, ...told }: Wanted): Promise<Response> {
  const { ctx, visitor } = own
  const ref = sent.text('ref') || undefined
  const { body: key } = await ctx.idempotency.once(visitor.person.id, ref, {}, async (keep) => {
    const made = await make()
    // What is kept is that there was one, and never its text.
    await ctx.db.tx((db) => keep(db, { status: 200, body: null }))
    return { status: 200, body: made }
  })
  if (typeof key === 'string') return shown(own, keyPage(key, told))
  refuse('This key was made before and shown only then. If you lost it, make another.')
}

/** A key, shown once. */
function keyPage(key: string, { what, back }: Omit<Wanted, 'make'>): Page {
  const main = html`<div class="narrow">
    <h1>Keep this key</h1>
    <p class="lead">${what} It is shown only now.</p>
    ${copyLine(key, 'The key')}
    <p class="acts"><a class="button" href="${back}">I have kept it</a></p>
  </div>`
  return { title: 'A new key', main, scripts: ['copy-line.js'] }
}
