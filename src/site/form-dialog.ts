import { type Html, html, type Part } from '../kernel/html.ts'
import { newId } from '../kernel/ids.ts'
import { t, type Text } from '../kernel/words/message.ts'
import { crossIcon } from './components.ts'
import { alert, type Form } from './forms.ts'

/** A form of a page that failed. */
export interface FailedForm {
  /** The last segment of its path. */
  act: string
  message: string
  submitted?: Form
}

/**
 * Returns the failed form if it is the one of a dialog: one that revokes has the path of the dialog
 * that creates.
 */
export const failedIn = (failed: FailedForm | undefined, act: string): FailedForm | undefined =>
  failed?.act === act && failed.submitted?.has('revoke') !== true ? failed : undefined

interface FormDialog {
  /** The label of the button, and the title of the dialog unless it has a longer one. */
  label: Text
  title?: Text
  /** Styles of the button, as of other buttons. */
  style?: string
  /** The quiet words above the form. */
  hint?: Part
  /** The form, which ends in its own button. */
  form: Part
  /** Is true for a form that was sent and failed: it stands open. */
  isOpen?: boolean
  /** The error of the form. */
  message?: string | undefined
}

/**
 * A button that opens a form in a popover, which needs no script. Without a script no page opens a
 * popover by itself, so a form that failed stands open in the page, below the buttons beside it. In
 * browsers without popovers every form stands there.
 */
export function formDialog(dialog: FormDialog): Html {
  const { label, title = label, style = '', hint, form, isOpen = false, message } = dialog
  const id = `dialog-${newId()}`
  const opener = html`<button
    type="button"
    class="button${style && ` ${style}`}"
    popovertarget="${id}"
    aria-haspopup="dialog"
  >
    ${label}
  </button>`
  const close = html`<button
    type="button"
    class="icon-button close"
    popovertarget="${id}"
    popovertargetaction="hide"
    aria-label="${t('Close')}"
  >
    ${crossIcon}
  </button>`
  return html`${!isOpen && opener}
    <div
      class="form-dialog"
      id="${id}"
      ${!isOpen && html` popover`}
      role="${isOpen ? 'group' : 'dialog'}"
      tabindex="-1"
      aria-labelledby="${id}-title"
    >
      <h2 id="${id}-title">${title}</h2>
      ${!isOpen && close}${hint !== undefined && html`<p class="small">${hint}</p>`}
      ${alert(message)} ${form}
    </div>`
}
