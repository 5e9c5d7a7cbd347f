import { field, text } from '../frame/messages.ts'
import type { ChatHost } from './chat-host.ts'
import { speak } from './language.ts'
import type { ViewSize } from './view-size.ts'

/** Follows the host: its theme, language, size and display mode, and each change of them. */
export class HostContext {
  locale = ''
  #isFull = false
  readonly #button = document.getElementById('full')

  constructor(
    private readonly host: ChatHost,
    private readonly size: ViewSize,
  ) {
    host.on('ui/notifications/host-context-changed', (changes) => this.take(changes))
    this.#button?.addEventListener('click', () => void this.setFull(!this.#isFull))
  }

  /** Applies the fields that are there. */
  take(given: unknown): void {
    const root = document.documentElement
    const theme = text(given, 'theme', 10)
    if (/^(?:light|dark)$/.test(theme)) root.dataset['theme'] = theme
    const locale = text(given, 'locale', 100)
    if (locale !== '' && locale !== this.locale) {
      this.locale = locale
      speak(locale)
    }
    const modes = field(given, 'availableDisplayModes')
    if (Array.isArray(modes) && this.#button) this.#button.hidden = !modes.includes('fullscreen')
    const mode = text(given, 'displayMode', 20)
    if (mode !== '') this.#show(mode)
    const dimensions = field(given, 'containerDimensions')
    if (dimensions === undefined) return
    const max = Number(field(dimensions, 'maxHeight') ?? Infinity)
    this.size.allow(field(dimensions, 'height') === undefined ? max : undefined)
  }

  /** Asks the host to show this page alone, or in the chat. */
  async setFull(isFull: boolean): Promise<void> {
    const mode = isFull ? 'fullscreen' : 'inline'
    const result = await this.host.request('ui/request-display-mode', { mode }).catch(() => null)
    const set = text(result, 'mode', 20)
    if (set !== '') this.#show(set)
  }

  #show(mode: string): void {
    this.#isFull = mode === 'fullscreen'
    this.#button?.setAttribute('aria-pressed', String(this.#isFull))
  }
}
