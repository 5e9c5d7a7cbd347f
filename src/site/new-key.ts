import { type Html, html } from '../kernel/html.ts'
import { newId } from '../kernel/ids.ts'
import { t } from '../kernel/words/message.ts'
import { copyLine, narrowPage, saveSecret } from './components.ts'
import { type Form, hiddenField } from './forms.ts'
import type { Page } from './layout.ts'

interface NewKey {
  /** A sentence about what the key allows. */
  purpose: string
  /** The path of the page to return to. */
  back: string
}

/** An idempotency key: a form that is submitted twice creates one API key. */
export const keyRefField = (): Html => hiddenField('ref', newId())

/** Returns the idempotency key of a form with `keyRefField`. */
export const refOf = (sent: Form): string | undefined => sent.text('ref') || undefined

/** Shows a new key once. A reload submits the form again, which fails. */
export const keyPage = (key: string, { purpose, back }: NewKey): Page =>
  narrowPage(
    t('Save your API key'),
    html`<p class="lead">${purpose} You cannot see this key again.</p>
      ${saveSecret(copyLine(key, t('API key')), `berth-${key.slice(0, 11)}.txt`)}
      <p class="actions"><a class="button" href="${back}">Done</a></p>`,
    { scripts: ['copy-line.js', 'save-secret.js'] },
  )
