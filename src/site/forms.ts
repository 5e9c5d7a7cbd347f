/** Fields of forms, and how the server reads what they send: the names of fields agree here. */
import { rejectRequest } from '../kernel/errors.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { readBodyBytes } from '../kernel/http/body.ts'
import { idPattern, newId } from '../kernel/ids.ts'
import { formFieldsMax } from '../kernel/limits.ts'
import { t, type Text } from '../kernel/words/message.ts'

/** The fields of a submitted form. */
export interface Form {
  /** Returns "" for a missing field. */
  text(name: string): string
  /** Is true for a checked box. */
  has(name: string): boolean
  file(name: string): File | undefined
}

/**
 * Reads a URL-encoded or multipart form of at most `bytesMax` bytes and `fieldsMax` distinct
 * fields. Throws `bad_request`, `too_large`.
 */
export async function readForm(
  request: Request,
  bytesMax: number,
  fieldsMax = formFieldsMax,
): Promise<Form> {
  const type = request.headers.get('content-type') ?? ''
  if (!encodings.test(type))
    rejectRequest(t('Send this form as application/x-www-form-urlencoded or multipart/form-data.'))
  const body = new Response(await readBodyBytes(request, bytesMax), {
    headers: { 'content-type': type },
  })
  const fields = [
    ...(await body
      .formData()
      .catch(() => rejectRequest(t('The form could not be read. Reload the page and try again.')))),
  ]
  if (fields.length > fieldsMax)
    rejectRequest(t('This form has too many fields. Reload the page and try again.'))
  const values = new Map(fields)
  if (values.size < fields.length)
    rejectRequest(t('This form has the same field more than once. Reload the page and try again.'))
  return {
    text(name) {
      const value = values.get(name)
      return typeof value === 'string' ? value : ''
    },
    has: (name) => values.has(name),
    file(name) {
      const value = values.get(name)
      return value instanceof File && value.size > 0 ? value : undefined
    },
  }
}

const encodings = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i

/** Reads the ID that makes a form run once. Throws `bad_request`. */
export function readRef(form: Form): string {
  const ref = form.text('ref')
  return idPattern.test(ref) ? ref : rejectRequest(t('Reload the page and try again.'))
}

/** Parses an amount; undefined for an empty field. Throws `bad_request`. */
export function readCredits(form: Form, name: string): number | undefined {
  const text = form.text(name).trim()
  if (text === '') return undefined
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text)
  rejectRequest(
    t(
      'Enter credits as a number below 1,000,000,000 with at most six decimals, such as 250 or 0.5.',
    ),
  )
}

export const hiddenField = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`

/** A POST form with the token that protects it against cross-site requests. */
export const postForm = (
  token: string,
  action: string,
  fields: Part,
  name = 'form',
  encoding?: 'multipart/form-data',
): Html =>
  html`<form
    class="${name}"
    method="post"
    action="${action}"
    ${encoding && html` enctype="${encoding}"`}
  >
    ${hiddenField('token', token)}${fields}
  </form>`

/** A multipart form that takes a dropped file. */
export const dropForm = (token: string, action: string, fields: Part, name = 'form'): Html =>
  html`<file-drop>${postForm(token, action, fields, name, 'multipart/form-data')}</file-drop>`

interface FieldOptions {
  label: Text
  name: string
  type?: 'date' | 'text' | 'password' | 'number'
  value?: string | number | undefined
  hint?: Text | undefined
  autocomplete?: string
  max?: number
  isOptional?: boolean
  /** It takes the focus when its dialog opens. */
  isFocused?: boolean
  /** The error of this field. */
  error?: string | undefined
}

/** Returns the attributes and the message of a field with an error. */
function errorOf({ name, error }: Pick<FieldOptions, 'name' | 'error'>): [Part, Part] {
  if (error === undefined) return [false, false]
  const id = `error-${name}`
  // Browsers scroll to the field with the focus.
  return [
    html` aria-invalid="true" aria-describedby="${id}" autofocus`,
    html`<p class="alert field-error" id="${id}" role="alert">${error}</p>`,
  ]
}

export function inputField(options: FieldOptions): Html {
  const { label, name, type = 'text', value, hint, max = 200 } = options
  const { autocomplete = 'off', isOptional = false, isFocused = false } = options
  const plain = type === 'text' && html` autocapitalize="none" spellcheck="false" dir="auto"`
  const number = type === 'number' && html` min="0" step="any" inputmode="decimal"`
  const length = type !== 'number' && html` maxlength="${max}"`
  const [invalid, problem] = errorOf(options)
  return html`<label class="field"
      ><span>${label}</span>${hint !== undefined && html`<span class="hint">${hint}</span>`}<input
        type="${type}"
        name="${name}"
        value="${value ?? ''}"
        autocomplete="${autocomplete}"
        ${plain}${number}${length}${!isOptional && html` required`}${isFocused && html` autofocus`}${invalid} /></label
    >${problem}`
}

/** A field for a code of three groups, of an agent or a device. */
export const codeField = (
  label: Text,
  options: Pick<FieldOptions, 'value' | 'isFocused' | 'error'>,
): Html =>
  inputField({ label, name: 'code', max: 64, hint: t('For example 8K2M-Q0ZT-4RWX.'), ...options })

interface FileOptions {
  label: Text
  name?: string
  hint?: Part
  accept?: string
  isOptional?: boolean
  /** Takes files that are dropped on it. */
  isDrop?: boolean
}

/**
 * A field for a file. Browsers write theirs in their own language, so this one shows its own face
 * below it; site.js writes the name of the chosen file there.
 */
export function fileField(options: FileOptions): Html {
  const { label, name = 'file', hint, accept, isOptional, isDrop } = options
  return html`<label class="field${isDrop === true && ' drop'}"
    ><span>${label}</span>${hint !== undefined && html`<span class="hint">${hint}</span>`}<span
      class="file"
      ><input
        type="file"
        name="${name}"
        ${accept !== undefined && html` accept="${accept}"`}
        ${isOptional !== true && html` required`}
      /><span aria-hidden="true"
        ><b>${t('Choose file')}</b> <span>${t('No file chosen')}</span></span
      ></span
    ></label
  >`
}

interface TextAreaOptions {
  label: Text
  name: string
  value?: string | undefined
  hint?: Text
  max: number
  required?: boolean
  /** A field with a placeholder is one row until it is used. */
  placeholder?: Text
  /** It takes code: more rows, in the typeface of code. */
  isCode?: boolean
  /** The error of this field. */
  error?: string | undefined
}

export function textArea(options: TextAreaOptions): Html {
  const { label, name, value = '', hint, max, required = false, isCode = false } = options
  const { placeholder } = options
  const [invalid, problem] = errorOf(options)
  return html`<label class="field"
      ><span>${label}</span
      >${hint !== undefined && html`<span class="hint">${hint}</span>`}<textarea
        name="${name}"
        rows="${isCode ? 12 : placeholder === undefined ? 4 : 1}"
        ${isCode && html` class="code"`}${placeholder !== undefined && html` placeholder="${placeholder}"`}
        dir="auto"
        maxlength="${max}"
        ${required && html` required`}${invalid}
      >
${value}</textarea>
    </label>
    ${problem}`
}

interface SelectOptions {
  label: Text
  name: string
  value: string
  options: readonly (readonly [value: string, label: Text])[]
  required?: boolean
}

export const selectField = ({
  label,
  name,
  value,
  options,
  required = false,
}: SelectOptions): Html =>
  html`<label class="field"
    ><span>${label}</span
    ><select name="${name}" ${required && html` required`}>
      ${options.map(
        ([option, text]) =>
          html`<option value="${option}" ${option === value && html` selected`}>${text}</option>`,
      )}
    </select>
  </label>`

interface ChoiceOptions {
  label: Text
  name: string
  value: string
  /** The label of each choice with its meaning below it. */
  options: readonly { value: string; label: Part; hint: Part }[]
}

/** Radio buttons with an explanation each, for few choices that differ in their effect. */
export const choiceField = ({ label, name, value, options }: ChoiceOptions): Html =>
  html`<fieldset class="field-group">
    <legend>${label}</legend>
    <div class="choices">
      ${options.map(
        (option) =>
          html`<label
            ><input
              type="radio"
              name="${name}"
              value="${option.value}"
              required
              ${option.value === value && html` checked`}
            /><span>${option.label}<span class="hint">${option.hint}</span></span></label
          >`,
      )}
    </div>
  </fieldset>`

interface TicksOptions {
  label: Text
  /** Boxes with the meaning of each below it. A fixed one is always ticked, and not sent. */
  options: readonly { name: string; label: Part; hint: Part; isFixed: boolean }[]
}

/** Ticked boxes that a person may clear, with an explanation each. */
export const ticksField = ({ label, options }: TicksOptions): Html =>
  html`<fieldset class="field-group">
    <legend>${label}</legend>
    <div class="choices">
      ${options.map(
        ({ name, label: text, hint, isFixed }) =>
          html`<label
            ><input
              type="checkbox"
              name="${name}"
              value="yes"
              checked
              ${isFixed && html` disabled`}
            /><span>${text}<span class="hint">${hint}</span></span></label
          >`,
      )}
    </div>
  </fieldset>`

interface ButtonOptions {
  /** The field that says which button was pressed, where a form has several. */
  name?: string
  value?: string
  /** Names the target where a list has several of these buttons. */
  target?: string
}

/** A submit button of a form. Styles are `quiet`, `slim` and `danger`. */
export const button = (
  label: Part,
  style = '',
  { name, value, target }: ButtonOptions = {},
): Html => {
  const field = name !== undefined && html` name="${name}" value="${value}"`
  const labeled = target !== undefined && html` aria-label="${label} ${target}"`
  return html`<button class="button${style && ` ${style}`}" ${field}${labeled}>${label}</button>`
}

/** The error of the form below it. */
export const alert = (message: string | undefined): Part =>
  message !== undefined && html`<p class="alert" role="alert">${message}</p>`

/** A status message, such as the result of a form. */
export const notice = (text: Part): Part =>
  text !== undefined && html`<p class="notice" role="status">${text}</p>`

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
  /** It is the main action of its page. */
  isPrimary?: boolean
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
      class="button${!dialog.isPrimary && ' quiet'}${target !== undefined && ' slim'}${danger}"
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

/** The actions of a row, in a menu that opens without a script. */
export function rowMenu(target: string, actions: Part): Html {
  const id = `actions-${newId()}`
  return html`<button
      type="button"
      class="icon-button row-menu"
      popovertarget="${id}"
      aria-label="${t('Actions for {target}', { target })}"
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <circle cx="4" cy="10" r="1" />
        <circle cx="10" cy="10" r="1" />
        <circle cx="16" cy="10" r="1" />
      </svg>
    </button>
    <div class="row-actions" id="${id}" popover>${actions}</div>`
}

export const revokeDialog = (prefix: string): Html =>
  html`${hiddenField('revoke', prefix)}${confirmDialog({
    label: t('Revoke'),
    target: prefix,
    question: html`Revoke <code>${prefix}…</code>?`,
    consequence: t('Apps and scripts that use this key stop working immediately.'),
  })}`
