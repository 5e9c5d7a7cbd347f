import type { Step } from '../../apps/folders/folder.ts'
import { stepDoneCharsMax, stepsMax, stepTitleCharsMax } from '../../apps/folders/limits.ts'
import { rejectRequest } from '../../kernel/errors.ts'
import { type Html, html } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { crossIcon } from '../components.ts'
import { type Form, hiddenField } from '../forms.ts'

/** Empty rows below the steps, for browsers without scripts. A script adds rows by a button. */
const spareRows = 3
const rowsMax = stepsMax + spareRows

/** Fields of a form that has steps. */
export const stepFieldsMax = 1 + 3 * rowsMax
/** Bytes of those fields in a multipart form, with the headers of each. */
export const stepBytesMax = rowsMax * (4 * (stepTitleCharsMax + stepDoneCharsMax) + 1_024)

const nameOf = (at: number, part: keyof Step): string => `step-${at}-${part}`

/** Returns the rows of a form in which something is typed, each with its place on the page. */
function typedRows(form: Form): (Step & { at: number })[] {
  return Array.from({ length: rowsMax }, (_, place) => {
    const at = place + 1
    const [id, title, done] = (['id', 'title', 'done'] as const).map((part) =>
      form.text(nameOf(at, part)).trim(),
    )
    return { at, id: id ?? '', title: title ?? '', done: done ?? '' }
  }).filter(({ title, done }) => title !== '' || done !== '')
}

/** Returns whether a form has rows of steps. A person may have deleted all of them. */
export const hasSteps = (form: Form): boolean => form.has('steps')

/**
 * Reads the steps of a form in their order. A row without text is no step. A new step gets an id
 * that is made of its title. Throws `bad_request`.
 */
export function readSteps(form: Form): Step[] {
  const rows = typedRows(form)
  if (rows.length === 0) rejectRequest(t('Enter at least one step.'))
  const taken = new Set(rows.map(({ id }) => id))
  return rows.map(({ at, id: known, title, done }) => {
    if (title === '' || done === '') {
      rejectRequest(t('Step {at} needs a title, and how one knows that it is done.', { at }))
    }
    const id = known || newStepId(title, at, taken)
    taken.add(id)
    return { id, title, done }
  })
}

const idCharsMax = 40

/** Agents report steps by these ids, so a step keeps its own. */
function newStepId(title: string, at: number, taken: ReadonlySet<string>): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
  const base = words.replace(/^-|-$/g, '').slice(0, idCharsMax - 3) || `step-${at}`
  let id = base
  for (let more = 2; taken.has(id); more += 1) id = `${base}-${more}`
  return id
}

const arrow = (path: string): Html =>
  html`<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${path}" /></svg>`

const rowTool = (act: string, label: string, icon: Html): Html =>
  html`<button
    type="button"
    class="icon-button"
    data-act="${act}"
    aria-label="${label}"
    title="${label}"
  >
    ${icon}
  </button>`

function stepRow({ id, title, done }: Step, at: number, isSpare: boolean): Html {
  return html`<li ${isSpare && html` class="spare"`}>
    <fieldset>
      <legend>
        Step <span class="place">${at}</span> ${id !== '' && html`<code>${id}</code>`}
      </legend>
      ${hiddenField(nameOf(at, 'id'), id)}
      <label class="field"
        ><span>Title</span
        ><input
          name="${nameOf(at, 'title')}"
          value="${title}"
          maxlength="${stepTitleCharsMax}"
          autocomplete="off"
          dir="auto" /></label
      ><label class="field"
        ><span>Done when</span
        ><textarea name="${nameOf(at, 'done')}" rows="1" maxlength="${stepDoneCharsMax}" dir="auto">
${done}</textarea>
      </label>
      <div class="row-tools with-script">
        ${rowTool('up', t('Move up'), arrow('M10 16V4m-5 5 5-5 5 5'))}${rowTool('down', t('Move down'), arrow('M10 4v12m-5-5 5 5 5-5'))}${rowTool('delete', t('Delete step'), crossIcon)}
      </div>
    </fieldset>
  </li>`
}

/** The steps of a framework as rows. `form` is a form with an error, whose rows stay as typed. */
export function stepsField(steps: readonly Step[], form?: Form): Html {
  const rows: readonly Step[] = form && hasSteps(form) ? typedRows(form) : steps
  const shown = rows.length > 0 ? rows : [{ id: '', title: '', done: '' }]
  const spare = Array.from({ length: Math.min(spareRows, rowsMax - shown.length) }, () => ({
    id: '',
    title: '',
    done: '',
  }))
  return html`<step-rows data-max="${stepsMax}">
    ${hiddenField('steps', 'yes')}
    <ol class="step-rows">
      ${shown.map((step, at) => stepRow(step, at + 1, false))}${spare.map((step, at) => stepRow(step, shown.length + at + 1, true))}
    </ol>
    <button type="button" class="button quiet slim with-script" data-act="add">Add step</button>
  </step-rows>`
}
