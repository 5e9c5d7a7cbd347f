import { type Html, html, type Part } from '../kernel/html.ts'
import { newId } from '../kernel/ids.ts'
import { t, type Text } from '../kernel/words/message.ts'
import { hiddenField } from './forms.ts'

interface ConfirmDialog {
  /** The label of both buttons, such as "Delete". */
  label: Text
  /** Names the target where a list has several of these buttons. */
  target?: string
  question: Part
  consequence: Part
  fields?: Part
  /** The name and value of the confirming button, where the form has several actions. */
  submit?: { name: string; value: string }
  /** Is false for an action that takes nothing away, such as a limit. Other actions are red. */
  isDestructive?: boolean
}

/**
 * A button within a form that asks for confirmation in a popover, which needs no script. Browsers
 * without popovers show the question in the page. `tabindex` keeps the focus inside the dialog, so
 * that an `<auto-refresh>` does not replace it.
 */
export function confirmDialog(dialog: ConfirmDialog): Html {
  const { label, target, question, consequence, fields, submit, isDestructive = true } = dialog
  const danger = isDestructive && ' danger'
  const id = `confirm-${newId()}`
  return html`<button
      type="button"
      class="button quiet${target !== undefined && ' slim'}${danger}"
      popovertarget="${id}"
      ${target !== undefined && html` aria-label="${label} ${target}"`}
    >
      ${label}
    </button>
    <div
      class="confirm-dialog"
      id="${id}"
      popover
      role="dialog"
      tabindex="-1"
      aria-labelledby="${id}-question"
    >
      <p id="${id}-question"><strong>${question}</strong></p>
      <p>${consequence}</p>
      ${fields}
      <div class="actions">
        <button
          class="button${danger}"
          ${submit && html` name="${submit.name}" value="${submit.value}"`}
        >
          ${label}</button
        ><button
          type="button"
          class="button quiet"
          popovertarget="${id}"
          popovertargetaction="hide"
          autofocus
        >
          Cancel
        </button>
      </div>
    </div>`
}

export const revokeDialog = (prefix: string): Html =>
  html`${hiddenField('revoke', prefix)}${confirmDialog({
    label: t('Revoke'),
    target: prefix,
    question: html`Revoke <code>${prefix}…</code>?`,
    consequence: t('Apps and scripts that use this key stop working immediately.'),
  })}`
