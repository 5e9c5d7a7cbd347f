import { readBytes } from '../../core/body.ts'
import { type Html, html, type Part } from '../../core/markup.ts'
import { formBytesMax, formFieldsMax } from '../../limits.ts'
import { Refusal } from '../../refusals.ts'

/** What a form sent: a field that is not there is an empty text. */
export interface Form {
  text(name: string): string
  /** Whether a box was ticked. */
  has(name: string): boolean
}

/**
 * Reads a form's body: application/x-www-form-urlencoded, at most 16 KB and 20 fields, each of
 * them once. Refuses bad_request, too_large.
 */
export async function readForm(request: Request): Promise<Form> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) refuse('This form is not encoded so.')
  const text = new TextDecoder().decode(await readBytes(request, formBytesMax))
  const fields = [...new URLSearchParams(text)]
  if (fields.length > formFieldsMax) refuse('This form has too many fields.')
  const values = new Map(fields)
  if (values.size < fields.length) refuse('This form has a field twice.')
  return { text: (name) => values.get(name) ?? '', has: (name) => values.has(name) }
}

function refuse(problem: string): never {
  throw new Refusal('bad_request', { problem })
}

/** A form of ours: what it sends goes to `action`, with the token that proves it is ours. */
export const form = (token: string, action: string, fields: Part, name = 'form'): Html =>
  html`<form class="${name}" method="post" action="${action}">
    <input type="hidden" name="token" value="${token}" />${fields}
  </form>`

interface Field {
  label: string
  name: string
  type?: 'text' | 'password' | 'number'
  value?: string | number | undefined
  hint?: string
  autocomplete?: string
  max?: number
  /** May be left empty. */
  free?: boolean
}

/** One field with its label. */
export function field(given: Field): Html {
  const { label, name, type = 'text', value, hint, autocomplete = 'off', max = 200, free } = given
  const plain = type === 'text' && html` autocapitalize="none" spellcheck="false"`
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

/** What went wrong with the form above which it stands. */
export const alert = (said: string | undefined): Part =>
  said !== undefined && html`<p class="alert" role="alert">${said}</p>`
