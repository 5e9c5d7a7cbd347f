import { t } from '../../../public/words.ts'
import type { Mode } from '../models/modes.ts'
import { Attachments } from './attachments.browser.ts'
import { readParameters, setUpFields, startersOf } from './composer.browser.ts'
import type { Conversation } from './conversation.browser.ts'
import { openCode, openHistory } from './dialogs.browser.ts'
import { actionButton, element } from './elements.browser.ts'
import { SessionGateway } from './gateway.browser.ts'
import { ConversationHistory } from './history.browser.ts'
import { PaneView, type Question } from './pane.browser.ts'
import { requestBody } from './request.browser.ts'

/** Plain HTTP has no random UUID. A browser starts one conversation at a time. */
const newId = (): string => Date.now().toString(36)

/** `<chat-playground>`: sends to one model or two, streams replies and keeps conversations. */
class ChatPlayground extends HTMLElement {
  connectedCallback(): void {
    const form = this.querySelector('form')
    const text = this.querySelector<HTMLTextAreaElement>('textarea[name=text]')
    const pane = PaneView.of(this.querySelector('.pane'))
    if (form && text && pane) new Playground(this, { form, text, pane }).start()
  }
}

interface Parts {
  form: HTMLFormElement
  text: HTMLTextAreaElement
  pane: PaneView
}

class Playground {
  readonly #form: HTMLFormElement
  readonly #text: HTMLTextAreaElement
  readonly #panes: PaneView[]
  readonly #gateway: SessionGateway
  readonly #history: ConversationHistory
  readonly #attachments: Attachments
  readonly #stop = actionButton(t('Stop'), 'button quiet', () => this.#controller?.abort())
  readonly #compare = actionButton(t('Compare'), 'button quiet', () => this.#toggleCompare())
  #controller: AbortController | undefined
  #mode: Mode = 'chat'
  #id = newId()

  constructor(
    private readonly host: HTMLElement,
    { form, text, pane }: Parts,
  ) {
    this.#form = form
    this.#text = text
    this.#panes = [pane]
    const token = form.querySelector<HTMLInputElement>('input[name=token]')?.value ?? ''
    this.#gateway = new SessionGateway(new URL(form.action).pathname, token)
    this.#history = new ConversationHistory(host.dataset['owner'] ?? '')
    this.#attachments = new Attachments(this.#gateway, {
      bytesMax: Number(host.dataset['fileBytes']),
      onError: (message) => this.#showError(message),
    })
  }

  start(): void {
    this.#addTools()
    this.#listen()
    this.#changeMode()
    if (this.host.dataset['other']) this.#toggleCompare(this.host.dataset['other'])
  }

  #addTools(): void {
    const code = actionButton(t('Get code'), 'button quiet', () => this.#openCode())
    const history = actionButton(t('History'), 'button quiet', () =>
      openHistory(this.#history, (conversation) => this.#open(conversation)),
    )
    this.#compare.setAttribute('aria-pressed', 'false')
    const tools = element('p', 'actions tools', this.#compare, code, history)
    document.querySelector('.title')?.append(tools)
    this.#form.querySelector('.actions .left')?.before(this.#attachments.bar)
    const settings = this.#form.querySelector('details')
    if (settings) settings.open = matchMedia('(min-width: 1000px)').matches
    this.#text.placeholder = t('Enter to send, Shift+Enter for a new line')
  }

  #listen(): void {
    this.#text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      this.#form.requestSubmit()
    })
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (!this.#controller) void this.#send()
    })
    this.#panes[0]?.select.addEventListener('change', () => this.#changeMode())
    this.#form.querySelector('a.quiet')?.addEventListener('click', (event) => {
      event.preventDefault()
      this.#reset()
      this.#text.focus()
    })
    this.#form.addEventListener('paste', ({ clipboardData }) => {
      this.#attachments.add([...(clipboardData?.files ?? [])])
    })
    this.#form.addEventListener('dragover', (event) => event.preventDefault())
    this.#form.addEventListener('drop', (event) => {
      event.preventDefault()
      this.#attachments.add([...(event.dataTransfer?.files ?? [])])
    })
  }

  /** Starts anew when the selected model serves other requests than the one before. */
  #changeMode(): void {
    const [pane] = this.#panes
    const mode = pane?.mode ?? 'chat'
    const isOther = mode !== this.#mode
    this.#mode = mode
    setUpFields(this.#form, this.#text, mode)
    this.#attachments.setUp(mode, pane?.inputs ?? [])
    if (!isOther && (pane?.turns.length ?? 0) > 0) return
    if (this.#panes.length > 1 && isOther) this.#toggleCompare()
    this.#reset()
  }

  #reset(): void {
    this.#controller?.abort()
    this.#id = newId()
    this.#attachments.clear()
    this.host.querySelector('.composer .alert')?.remove()
    for (const pane of this.#panes) pane.show([], this.#starters())
  }

  #starters = (): Node[] => startersOf(this.#mode, this.#text)

  /** Adds a second model of the same kind, or removes it. */
  #toggleCompare(model?: string): void {
    const [first, second] = this.#panes
    if (second) {
      second.show([])
      second.section.remove()
      this.#panes.length = 1
    } else {
      const added = first && PaneView.beside(first, model)
      if (added) this.#panes.push(added)
      else
        this.#showError(t('Comparing needs a second model of this kind. The operator can add one.'))
      added?.show([], this.#starters())
    }
    const isComparing = this.#panes.length > 1
    this.#compare.setAttribute('aria-pressed', String(isComparing))
    this.host.classList.toggle('comparing', isComparing)
  }

  async #send(): Promise<void> {
    const problem = this.#problem()
    if (problem !== undefined) {
      this.#showError(problem)
      return
    }
    this.#controller = new AbortController()
    const { signal } = this.#controller
    const question = this.#question()
    this.#text.value = ''
    this.#attachments.clear()
    this.host.querySelector('.composer .alert')?.remove()
    this.#setBusy(true)
    const onBalance = (left: string): void =>
      this.host.querySelector('[data-left]')?.replaceChildren(left)
    const errors = await Promise.all(
      this.#panes.map((pane) => pane.ask(this.#gateway, question, { signal, onBalance })),
    )
    this.#finish(question, errors, signal.aborted)
    this.#controller = undefined
    this.#setBusy(false)
    this.#text.focus()
  }

  /** Keeps the conversation. A message that no model replied to stays in its field. */
  #finish(question: Question, errors: (string | undefined)[], isAborted: boolean): void {
    const [first] = errors
    if (errors.every((error) => error !== undefined)) {
      this.#text.value ||= question.text
      if (!isAborted && first !== undefined) this.#showError(first)
      for (const pane of this.#panes) if (pane.turns.length === 0) pane.show([], this.#starters())
      return
    }
    for (const [at, error] of errors.entries()) {
      if (error !== undefined) this.#panes[at]?.showError(error)
    }
    const panes = this.#panes.map(({ stored }) => stored)
    this.#history.save({ id: this.#id, at: Date.now(), mode: this.#mode, panes })
  }

  #question(): Question {
    const parameters = readParameters(this.#form, this.#mode)
    const { uploads: files, file } = this.#attachments
    return { mode: this.#mode, text: this.#text.value, files, parameters, file }
  }

  #problem(): string | undefined {
    if (this.#attachments.isUploading) return t('Wait until the files are uploaded.')
    if (this.#mode === 'transcription' && !this.#attachments.file) return t('Choose an audio file.')
    return undefined
  }

  #openCode(): void {
    const [pane] = this.#panes
    if (!pane) return
    const question = this.#question()
    const last = pane.turns.findLast(({ role }) => role === 'user')
    const isNew = question.text !== '' || last === undefined
    const body = requestBody({
      ...question,
      model: pane.model,
      text: question.text || (last?.content ?? 'Hello'),
      turns: isNew ? pane.turns : pane.turns.slice(0, pane.turns.indexOf(last)),
    })
    openCode({ mode: this.#mode, gateway: this.host.dataset['gateway'] ?? '', body })
  }

  #open({ id, mode, panes }: Conversation): void {
    const [first, second] = panes
    const [pane] = this.#panes
    if (!first || !pane) return
    if (this.#panes.length > 1) this.#toggleCompare()
    pane.select.value = first.model
    if (pane.mode !== mode) {
      this.#showError(t('The model {model} is not available any more.', { model: first.model }))
      pane.select.selectedIndex = 0
      this.#changeMode()
      return
    }
    pane.turns = []
    this.#changeMode()
    this.#id = id
    pane.show(first.turns)
    if (!second) return
    this.#toggleCompare(second.model)
    this.#panes[1]?.show(second.turns)
  }

  #showError(error: string): void {
    this.host.querySelector('.composer .alert')?.remove()
    const line = element('p', 'alert', error)
    line.setAttribute('role', 'alert')
    this.host.querySelector('.composer')?.prepend(line)
  }

  #setBusy(is: boolean): void {
    if (is) this.#form.querySelector('.actions .button')?.after(this.#stop)
    else this.#stop.remove()
    const [send] = this.#form.querySelectorAll<HTMLButtonElement>('.composer .actions .button')
    send?.toggleAttribute('disabled', is)
  }
}

customElements.define('chat-playground', ChatPlayground)
