import { type Html, html } from '../kernel/html.ts'
import { newId } from '../kernel/ids.ts'
import { copyLine, narrowPage, saveSecret } from './components.ts'
import { type Form, hiddenField, rejectForm } from './forms.ts'
import type { Page } from './layout.ts'
import { privatePage, type UserRequest } from './session.ts'

interface KeyRequest {
  create(): Promise<string>
  /** A sentence about what the key allows. */
  purpose: string
  /** The path of the page to return to. */
  back: string
}

/** An idempotency key: a form that is submitted twice creates one API key. */
export const keyRefField = (): Html => hiddenField('ref', newId())

/** Creates a key and shows it once. A reload submits the form again: that throws `bad_request`. */
export async function createAndShowKey(
  req: UserRequest,
  submitted: Form,
  { create, ...page }: KeyRequest,
): Promise<Response> {
  const { ctx, visitor } = req
  const ref = submitted.text('ref') || undefined
  const { body: key } = await ctx.idempotency.run(visitor.person.id, ref, {}, async (keep) => {
    const text = await create()
    // The stored result never has the text of the key.
    await ctx.db.tx((db) => keep(db, { status: 200, body: null }))
    return { status: 200, body: text }
  })
  if (typeof key === 'string') return privatePage(req, keyPage(key, page))
  rejectForm(
    'This key was already created and is shown only once. If you lost it, create a new one.',
  )
}

const keyPage = (key: string, { purpose, back }: Omit<KeyRequest, 'create'>): Page =>
  narrowPage(
    'Save your API key',
    html`<p class="lead">${purpose} You cannot see this key again.</p>
      ${saveSecret(copyLine(key, 'API key'), `berth-${key.slice(0, 11)}.txt`)}
      <p class="actions"><a class="button" href="${back}">Done</a></p>`,
    { scripts: ['copy-line.js', 'save-secret.js'] },
  )
