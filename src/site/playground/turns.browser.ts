import { formatNumber, t } from '../../../public/words.ts'
import type { Turn } from './conversation.browser.ts'
import { actionButton, codeBlock, element } from './elements.browser.ts'
import type { Reply } from './gateway.browser.ts'
import { renderMarkdown } from './markdown.browser.ts'

const expired = t('This file expired: results are kept for 24 hours.')
const valuesShown = 8

/** A turn on the page. Its text grows while a reply streams. */
export class TurnView {
  readonly article: HTMLElement
  readonly #body: HTMLElement
  readonly #role: Turn['role']
  #text = ''
  #frame = 0

  constructor(log: HTMLElement, { role, author }: { role: Turn['role']; author: string }) {
    this.#role = role
    const isUser = role === 'user'
    this.#body = element(isUser ? 'p' : 'div', isUser ? 'turn-text' : 'turn-text markdown')
    this.article = element('article', `turn ${role}`, element('h2', '', author), this.#body)
    log.append(this.article)
    log.scrollTo(0, log.scrollHeight)
  }

  get text(): string {
    return this.#text
  }

  /** Adds text, which is rendered once a frame. */
  add(text: string): void {
    this.#text += text
    if (this.#role === 'user') this.#body.textContent = this.#text
    else this.#frame ||= requestAnimationFrame(() => this.#render())
  }

  #render(): void {
    this.#frame = 0
    const log = this.article.parentElement
    const isAtEnd = log ? log.scrollHeight - log.scrollTop - log.clientHeight < 80 : false
    this.#body.replaceChildren(...renderMarkdown(this.#text))
    if (isAtEnd) log?.scrollTo(0, log.scrollHeight)
  }

  /** Renders the rest of the text and the Copy button of a reply. */
  end(): void {
    cancelAnimationFrame(this.#frame)
    if (this.#text === '') return
    this.#render()
    const copy = actionButton(t('Copy'), 'turn-copy', () => {
      void navigator.clipboard?.writeText(this.#text).then(() => {
        copy.textContent = t('Copied')
        setTimeout(() => copy.replaceChildren(t('Copy')), 1_600)
      })
    })
    copy.setAttribute('aria-label', t('Copy the reply'))
    if (this.#role === 'assistant') this.article.append(copy)
  }

  setStatus(status: string): void {
    if (this.#text === '') this.#body.replaceChildren(element('span', 'small', status))
  }

  showFiles(names: string[]): void {
    if (names.length === 0) return
    this.article.append(element('ul', 'files', ...names.map((name) => element('li', '', name))))
  }

  showMedia({ images = [], video, audio, vector }: Omit<Reply, 'id'>): void {
    const media = [
      ...images.map((url) => imageOf(url)),
      ...(video ? [playerOf('video', video)] : []),
      ...(audio ? [playerOf('audio', URL.createObjectURL(audio))] : []),
      ...(vector ? vectorOf(vector) : []),
    ]
    if (media.length > 0) this.#body.replaceChildren(...media)
  }

  showSummary(summary: string, exact: string): void {
    const line = element('p', 'small summary', summary)
    line.title = exact
    this.article.append(line)
  }

  showError(error: string): void {
    const line = element('p', 'alert', error)
    line.setAttribute('role', 'alert')
    this.article.append(line)
  }
}

function imageOf(url: string): HTMLElement {
  const image = element('img')
  image.src = url
  image.alt = t('Generated image')
  image.addEventListener('error', () => image.replaceWith(element('span', 'small', expired)))
  const link = element('a', 'result', image)
  link.href = url
  link.target = '_blank'
  return link
}

function playerOf(kind: 'audio' | 'video', url: string): HTMLElement {
  const player = element(kind, 'result')
  player.controls = true
  player.src = url
  player.addEventListener('error', () => player.replaceWith(element('span', 'small', expired)))
  return player
}

/** Removes the turns of a log and frees the audio of their replies. */
export function clearTurns(log: HTMLElement): void {
  for (const { src } of log.querySelectorAll('audio')) URL.revokeObjectURL(src)
  log.replaceChildren()
}

function vectorOf(vector: number[]): HTMLElement[] {
  const length = Math.hypot(...vector).toFixed(4)
  const first = vector.slice(0, valuesShown).map((value) => value.toFixed(6))
  return [
    element(
      'p',
      '',
      t('{length} dimensions, length {length2}. First values:', {
        length: formatNumber(vector.length),
        length2: length,
      }),
    ),
    codeBlock(
      `[${first.join(', ')}${vector.length > valuesShown ? ', …' : ''}]`,
      t('First values'),
    ),
  ]
}

/** Renders a stored turn. */
export function showTurn(log: HTMLElement, turn: Turn, model: string): void {
  const author = turn.role === 'user' ? t('You') : model
  const view = new TurnView(log, { role: turn.role, author })
  view.add(turn.content)
  view.end()
  view.showMedia(turn)
  view.showFiles((turn.files ?? []).map(({ name }) => name))
  if (turn.summary !== undefined) view.showSummary(turn.summary, turn.exact ?? '')
}
