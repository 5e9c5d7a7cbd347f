import { formatNumber, t } from '../../../public/words.ts'
import { type Mode, modes } from '../models/modes.ts'
import type { Pane, Turn } from './conversation.browser.ts'
import { element } from './elements.browser.ts'
import type { Reply, SessionGateway } from './gateway.browser.ts'
import { type Prompt, requestBody } from './request.browser.ts'
import { clearTurns, showTurn, TurnView } from './turns.browser.ts'

/** A request of a pane: the prompt without the model and its conversation. */
export type Question = Omit<Prompt, 'model' | 'turns'> & { file?: File | undefined }

/** One model with its conversation on the page. */
export class PaneView {
  turns: Turn[] = []

  constructor(
    readonly section: HTMLElement,
    readonly select: HTMLSelectElement,
    readonly log: HTMLElement,
  ) {}

  /** Finds the parts of a pane. */
  static of(section: Element | null): PaneView | undefined {
    const select = section?.querySelector('select')
    const log = section?.querySelector<HTMLElement>('.log')
    return section instanceof HTMLElement && select && log
      ? new PaneView(section, select, log)
      : undefined
  }

  /** Adds a second pane with another model of the same mode; undefined where there is none. */
  static beside(first: PaneView, model: string | undefined): PaneView | undefined {
    const section = first.section.cloneNode(true)
    const pane = section instanceof HTMLElement ? PaneView.of(section) : undefined
    if (!pane) return undefined
    for (const part of [pane.section, pane.log])
      part.setAttribute('aria-label', t('Second conversation'))
    // The form has one model: the second is not part of it.
    pane.select.removeAttribute('name')
    for (const group of pane.select.querySelectorAll('optgroup')) {
      if (group.dataset['mode'] !== first.mode) group.remove()
    }
    const options = [...pane.select.options].map(({ value }) => value)
    const other = options.find((value) => value !== first.model)
    if (other === undefined) return undefined
    pane.select.value = model && options.includes(model) ? model : other
    first.section.after(pane.section)
    return pane
  }

  get model(): string {
    return this.select.value
  }

  get mode(): Mode | undefined {
    const group = this.select.selectedOptions[0]?.closest('optgroup')
    return modes.find((known) => known === group?.dataset['mode'])
  }

  get inputs(): string[] {
    return (this.select.selectedOptions[0]?.dataset['inputs'] ?? '').split(' ')
  }

  get stored(): Pane {
    return { model: this.model, turns: this.turns }
  }

  /** Shows a conversation, and offers starters for an empty one. */
  show(turns: Turn[], starters: Node[] = []): void {
    this.turns = turns
    clearTurns(this.log)
    for (const turn of turns) showTurn(this.log, turn, this.model)
    if (turns.length === 0) this.log.append(...starters)
  }

  /**
   * Asks the model and shows its reply. Returns the error of a request without any reply; then the
   * conversation is as before.
   */
  async ask(
    gateway: SessionGateway,
    question: Question,
    { signal, onBalance }: { signal: AbortSignal; onBalance(left: string): void },
  ): Promise<string | undefined> {
    const { mode, text, files, file } = question
    this.log.querySelector('.starters')?.remove()
    const ownTurn = new TurnView(this.log, { role: 'user', author: t('You') })
    ownTurn.add(text)
    ownTurn.showFiles(file ? [file.name] : files.map(({ name }) => name))
    const replyView = new TurnView(this.log, { role: 'assistant', author: this.model })
    replyView.article.setAttribute('aria-busy', 'true')
    const body = requestBody({ ...question, model: this.model, turns: this.turns })
    const progress = {
      addText: (more: string) => replyView.add(more),
      setStatus: (status: string) => replyView.setStatus(status),
    }
    const reply = await gateway.send(mode, file ? formOf(body, file) : body, { signal, progress })
    replyView.end()
    replyView.article.removeAttribute('aria-busy')
    replyView.showMedia(reply)
    if (isEmpty(reply, replyView.text)) {
      ownTurn.article.remove()
      replyView.article.remove()
      return (
        reply.error ??
        t('{model} returned no text. Try another message or model.', { model: this.model })
      )
    }
    if (reply.error !== undefined) replyView.showError(reply.error)
    const summary = await gateway.summarize(reply.id)
    if (summary) {
      replyView.showSummary(summary.summary, summary.exact)
      onBalance(summary.left)
    }
    this.turns = [
      ...this.turns,
      { role: 'user', content: text, files: file ? [{ id: '', name: file.name }] : files },
      { role: 'assistant', content: replyView.text, ...storedMedia(reply), ...textsOf(summary) },
    ]
    return undefined
  }

  showError(error: string): void {
    const line = element('p', 'alert', error)
    line.setAttribute('role', 'alert')
    this.log.append(line)
  }
}

const textsOf = (summary: { summary: string; exact: string } | undefined) =>
  summary && { summary: summary.summary, exact: summary.exact }

const isEmpty = ({ images, audio, video, vector }: Reply, text: string): boolean =>
  text === '' && !images?.length && !audio && !video && !vector

/** Audio and vectors stay out of the history: it has room for texts and addresses. */
function storedMedia({ images, video, audio, vector }: Reply): Partial<Turn> {
  if (images) return { images }
  if (video) return { video }
  if (audio) return { content: t('*Speech is not kept in the history.*') }
  return vector
    ? { content: `*${t('{length} dimensions', { length: formatNumber(vector.length) })}*` }
    : {}
}

function formOf(fields: Record<string, unknown>, file: File): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value))
  form.append('file', file)
  return form
}
