import { t } from '../../../public/words.ts'
import type { Mode } from '../models/modes.ts'
import { actionButton, element } from './elements.browser.ts'

/** The label of the message field, and examples for an empty conversation. */
const words: Record<Mode, { label: string; starters: string[] }> = {
  chat: {
    label: t('Message'),
    starters: [
      t('Explain tides to a child in three sentences.'),
      t('Write a SQL query for the ten best customers of a shop.'),
      t('Compare Rust and Go in a table.'),
    ],
  },
  image: {
    label: t('Prompt'),
    starters: [t('A lighthouse in fog, watercolor'), t('A fox reading a map, flat illustration')],
  },
  video: { label: t('Prompt'), starters: [t('Waves roll over a pier at dusk')] },
  speech: { label: t('Text to speak'), starters: [t('The ferry leaves at nine from pier four.')] },
  transcription: { label: t('Prompt'), starters: [] },
  embedding: { label: t('Text'), starters: [t('A small boat in the harbor')] },
}

/** Returns the starters of a mode, which fill in the message. */
export function startersOf(mode: Mode, field: HTMLTextAreaElement): Node[] {
  if (mode === 'transcription') {
    return [element('p', 'starters small', t('Choose an audio file and send it.'))]
  }
  const buttons = words[mode].starters.map((text) =>
    actionButton(text, 'starter', () => {
      field.value = text
      field.focus()
    }),
  )
  return [element('div', 'starters', ...buttons)]
}

/** Shows the fields of a mode: the message or a file, and its parameters. */
export function setUpFields(form: HTMLFormElement, text: HTMLTextAreaElement, mode: Mode): void {
  for (const fieldset of form.querySelectorAll<HTMLFieldSetElement>('fieldset[data-mode]')) {
    const isShown = fieldset.dataset['mode'] === mode
    fieldset.hidden = !isShown
    fieldset.disabled = !isShown
  }
  const field = text.closest('label')
  const label = field?.querySelector('span')
  if (label) label.textContent = words[mode].label
  if (field) field.hidden = mode === 'transcription'
  text.required = mode !== 'transcription'
}

/** Returns the parameters of the visible panel that have a value. */
export function readParameters(form: HTMLFormElement, mode: Mode): Record<string, string | number> {
  const fieldset = form.querySelector<HTMLFieldSetElement>(`fieldset[data-mode="${mode}"]`)
  const found: Record<string, string | number> = {}
  for (const field of fieldset?.elements ?? []) {
    const isField =
      field instanceof HTMLInputElement ||
      field instanceof HTMLSelectElement ||
      field instanceof HTMLTextAreaElement
    if (!isField || field.value.trim() === '') continue
    found[field.name] = field.type === 'number' ? Number(field.value) : field.value
  }
  return found
}
