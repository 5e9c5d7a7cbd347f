import { type Html, html, type Part } from '../core/markup.ts'
import { ApiError } from '../errors.ts'
import { readBodyBytes } from '../http/body.ts'
import { formFieldsMax } from '../limits.ts'

/** What a form sent: a field that is not there is an empty text. */
export interface SubmittedForm {
  text(name: string): string
  /** Whether a box was ticked. */
  has(name: string): boolean
  /** A file that was chosen. */
  file(name: string): Blob | undefined
}

/**
 * Reads a form's body: application/x-www-form-urlencoded, or multipart/form-data where it brings a
 * file, at most `bytesMax` and 20 fields, each of them once. Refuses bad_request, too_large.
 */
export async function readForm(request: Request, bytesMax: number): Promise<SubmittedForm> {
  const type = request.headers.get('content-type') ?? ''
  if (!encodings.test(type)) rejectForm('This form is not encoded so.')
  const body = new Response(await readBodyBytes(request, bytesMax), {
    headers: { 'content-type': type },
  })
  const fields = [...(await body.formData().catch(() => rejectForm('This form cannot be read.')))]
  if (fields.length > formFieldsMax) rejectForm('This form has too many fields.')
  const values = new Map(fields)
  if (values.size < fields.length) rejectForm('This form has a field twice.')
  return {
    text(name) {
      const value = values.get(name)
      return typeof value === 'string' ? value : ''
    },
    has: (name) => values.has(name),
    file(name) {
      const value = values.get(name)
      return value instanceof Blob && value.size > 0 ? value : undefined
    },
  }
}

const encodings = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i

/** What was sent does not do: its page again, with the sentence. */
export function rejectForm(problem: string): never {
  throw new ApiError('bad_request', { problem })
}

/** A number as it was typed; undefined for an empty field. Refuses bad_request. */
export function parseCredits(form: SubmittedForm, name: string): number | undefined {
  const text = form.text(name).trim()
  if (text === '') return undefined
  if (/^\d{1,9}(\.\d{1,6})?$/.test(text)) return Number(text)
  rejectForm(
    'Credits are a number below 1,000,000,000 with at most six decimals, such as 250 or 0.5.',
  )
}

/** What a form sends that nobody types. */
export const hiddenField = (name: string, value: string | number): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`

/** A form of ours: what it sends goes to `action`, with the token that proves it is ours. */
export const form = (
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

interface FieldOptions {
  label: string
  name: string
  type?: 'text' | 'password' | 'number'
  value?: string | number | undefined
  hint?: string | undefined
  autocomplete?: string
  max?: number
  /** May be left empty. */
  isOptional?: boolean
}

/** One field with its label. */
export function inputField(given: FieldOptions): Html {
  const {
    label,
    name,
    type = 'text',
    value,
    hint,
    autocomplete = 'off',
    max = 200,
    isOptional: free,
  } = given
  const plain = type === 'text' && html` autocapitalize="none" spellcheck="false" dir="auto"`
  const number = type === 'number' && html` min="0" step="any" inputmode="decimal"`
  const length = type !== 'number' && html` maxlength="${max}"`
  return html`<label class="field"
    ><span>${label}</span>${hint !== undefined && html`<span class="hint">${hint}</span>`}<input
      type="${type}"
      name="${name}"
      value="${value ?? ''}"
      autocomplete="${autocomplete}"
      ${plain}${number}${length}${free !== true && html` required`}
  /></label>`
}

interface TextAreaOptions {
  label: string
  name: string
  value?: string | undefined
  hint?: string
  max: number
  required?: boolean
}

/** A field of several lines. */
export const textArea = ({
  label,
  name,
  value = '',
  hint,
  max,
  required = false,
}: TextAreaOptions): Html =>
  html`<label class="field"
    ><span>${label}</span>${hint !== undefined && html`<span class="hint">${hint}</span>`}<textarea
      name="${name}"
      rows="4"
      dir="auto"
      maxlength="${max}"
      ${required && html` required`}
    >
${value}</textarea>
  </label>`

interface SelectOptions {
  label: string
  name: string
  value: string
  options: readonly (readonly [value: string, label: string])[]
  /** That of the empty value is none. */
  required?: boolean
}

/** A field that takes one of several values. */
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
        ([one, words]) =>
          html`<option value="${one}" ${one === value && html` selected`}>${words}</option>`,
      )}
    </select>
  </label>`

/** What went wrong with the form above which it stands. */
export const alert = (message: string | undefined): Part =>
  message !== undefined && html`<p class="alert" role="alert">${message}</p>`

/** What a form has done, or what is being done. */
export const notice = (words: Part): Part =>
  words !== undefined && html`<p class="note" role="status">${words}</p>`
