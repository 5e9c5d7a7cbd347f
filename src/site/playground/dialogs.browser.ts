import { t } from '../../../public/words.ts'
import { codeExample, type ExampleRequest, languages } from '../models/code-examples.ts'
import type { Conversation } from './conversation.browser.ts'
import { actionButton, codeBlock, element } from './elements.browser.ts'
import type { ConversationHistory } from './history.browser.ts'

const titleChars = 80

/** Opens a dialog, which is removed when it closes. */
function openDialog(title: string, ...content: Node[]): HTMLDialogElement {
  const dialog = element('dialog', 'play-dialog')
  const heading = element('h2', '', title)
  heading.id = 'play-dialog-title'
  dialog.setAttribute('aria-labelledby', heading.id)
  const close = actionButton(t('Close'), 'button quiet slim', () => dialog.close())
  dialog.append(element('div', 'head', heading, close), ...content)
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
  return dialog
}

/** Shows the request as code, in tabs as on the pages of models. */
export function openCode(request: ExampleRequest): void {
  const tabs = element('fieldset', 'segments', element('legend', 'visually-hidden', t('Language')))
  const box = element('div', 'code-tabs', tabs)
  for (const name of ['curl', 'python', 'javascript'] as const) {
    const label = languages[name]
    const radio = element('input')
    radio.type = 'radio'
    radio.name = 'language'
    radio.value = name
    radio.checked = name === 'curl'
    tabs.append(element('label', '', radio, label))
    const code = codeBlock(codeExample(name, request), t('{label} example', { label }))
    const part = element('div', '', code)
    part.dataset['language'] = name
    box.append(part)
  }
  const hint = element('p', 'small', `${t('Set KEY to an API key of your wallet.')} `)
  const link = element('a', '', t('Create a key'))
  link.href = '/wallet#keys'
  hint.append(link)
  openDialog(t('Code'), hint, box)
}

/** Lists the conversations of this browser, to open or delete them. */
export function openHistory(
  history: ConversationHistory,
  onOpen: (conversation: Conversation) => void,
): void {
  const list = element('ul', 'rows history')
  const hint = element('p', 'small', t('Stored in this browser only.'))
  const dialog = openDialog(t('History'), hint, list)
  const show = (): void => {
    const all = history.list()
    list.replaceChildren(
      ...all.map((conversation) => {
        const open = actionButton(titleOf(conversation), 'history-open', () => {
          dialog.close()
          onOpen(conversation)
        })
        const remove = actionButton(t('Delete'), 'button quiet slim danger', () => {
          history.remove(conversation.id)
          show()
        })
        remove.setAttribute('aria-label', t('Delete {titleOf}', { titleOf: titleOf(conversation) }))
        const about = [
          new Date(conversation.at).toLocaleString(`${document.documentElement.lang}-u-nu-latn`),
          ...conversation.panes.map(({ model }) => model),
        ]
        return element(
          'li',
          '',
          element('div', '', open, element('p', 'small', about.join(' · '))),
          remove,
        )
      }),
    )
    if (all.length === 0) list.append(element('li', 'small', t('No conversations yet.')))
    clear.hidden = all.length === 0
  }
  const clear = actionButton(t('Delete all'), 'button quiet danger', () => {
    history.clear()
    show()
  })
  dialog.append(clear)
  show()
}

function titleOf({ panes, mode }: Conversation): string {
  const first = panes[0]?.turns.find(({ role }) => role === 'user')
  const text = first?.content || first?.files?.[0]?.name || mode
  return text.length > titleChars ? `${text.slice(0, titleChars)}…` : text
}
