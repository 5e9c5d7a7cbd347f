import { type Html, html, type Part } from '../kernel/html.ts'
import { t } from '../kernel/words/message.ts'
import type { Key } from '../money/keys/keys.ts'
import { type FailedForm, formDialog } from './form-dialog.ts'
import { renderDate } from './format.ts'
import { button, inputField, postForm, revokeDialog } from './forms.ts'
import { keyRefField } from './key-form.ts'
import { dataTable } from './lists.ts'

/** Personal keys, or those of an agent, which have a name and no limits. */
export function keyTable(
  token: string,
  action: string,
  keys: Pick<Key, 'prefix' | 'name' | 'created'>[],
): Part {
  const row = ({ prefix, name, created }: Pick<Key, 'prefix' | 'name' | 'created'>): Part[] => [
    name ? html`<bdi>${name}</bdi>` : html`<span class="small">Unnamed</span>`,
    html`<code>${prefix}…</code>`,
    renderDate(created),
    postForm(token, action, revokeDialog(prefix), 'act'),
  ]
  const heads = [{ long: t('Name') }, t('Key'), t('Created'), { unseen: t('Revoke') }]
  return dataTable(t('API keys'), heads, keys.map(row), false)
}

/** The dialog that creates an API key; `failed` is its form that failed. */
export const keyDialog = (token: string, action: string, failed: FailedForm | undefined): Html => {
  const name = inputField({
    label: t('Key name'),
    name: 'name',
    max: 80,
    isOptional: true,
    value: failed?.submitted?.text('name'),
    isFocused: true,
  })
  return formDialog({
    label: t('Create API key'),
    style: 'quiet',
    hint: t('The name tells your keys apart. The key is shown once.'),
    form: postForm(token, action, html`${keyRefField()}${name}${button(t('Create API key'))}`),
    isOpen: failed !== undefined,
    message: failed?.message,
  })
}
