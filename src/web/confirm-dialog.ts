import { newId } from '../core/ids.ts'
import { type Html, html, type Part } from '../core/markup.ts'
import { hiddenField } from './forms.ts'

interface ConfirmDialog {
  /** What is done, as both its buttons say it. */
  label: string
  /** To what, where several such buttons stand in one list. */
  target?: string
  question: Part
  /** What it ends. */
  consequence: Part
  /** What else its form needs. */
  fields?: Part
  /** What the form then sends, where more than one thing may be done with it. */
  submit?: { name: string; value: string }
}

/**
 * The button of what cannot be undone, within its form: it opens the question, and that has the
 * button which sends. A popover needs no script; a browser without them shows the question as is.
 * A press on its words keeps the focus in it, so that no live part draws it away.
 */
export function confirmDialog({
  label: word,
  target: of,
  question,
  consequence: ends,
  fields,
  submit: sends,
}: ConfirmDialog): Html {
  const id = `ask-${newId()}`
  const named = of !== undefined && html` aria-label="${word} ${of}"`
  const chosen = sends && html` name="${sends.name}" value="${sends.value}"`
  return html`<button
      type="button"
      class="button quiet${of !== undefined && ' slim'}"
      popovertarget="${id}"
      ${named}
    >
      ${word}
    </button>
    <div class="ask" id="${id}" popover role="dialog" tabindex="-1" aria-labelledby="${id}-words">
      <p id="${id}-words"><strong>${question}</strong></p>
      <p>${ends}</p>
      ${fields}
      <div class="acts">
        <button class="button" ${chosen}>${word}</button
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

/** That of revoking a key. */
export const revokeDialog = (prefix: string): Html =>
  html`${hiddenField('revoke', prefix)}${confirmDialog({
    label: 'Revoke',
    target: prefix,
    question: html`Revoke <code>${prefix}…</code>?`,
    consequence: 'Whatever uses it stops at once.',
  })}`
