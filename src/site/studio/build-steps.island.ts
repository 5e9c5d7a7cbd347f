import { t } from '../../../public/words.ts'
const second = 1_000
const minute = 60

/** Fields of a job that the page shows. */
interface BuildState {
  state: string
  step: string | null
}

function parse(text: string): BuildState {
  const job: unknown = JSON.parse(text)
  const { state = '', step = null } = typeof job === 'object' && job !== null ? { ...job } : {}
  return { state: String(state), step: typeof step === 'string' ? step : null }
}

/**
 * `<build-steps data-events="…" data-seconds="3">`: marks the steps of a running build as they
 * happen and counts the elapsed time. Reloads the page when the build ends.
 */
class BuildSteps extends HTMLElement {
  #events: EventSource | undefined
  #timer = 0

  connectedCallback(): void {
    const { events = '', seconds = '0' } = this.dataset
    const startedAt = performance.now() - Number(seconds) * second
    this.#timer = setInterval(() => this.#showTime(performance.now() - startedAt), second)
    this.#events = new EventSource(events)
    this.#events.addEventListener('message', ({ data }) => this.#show(parse(String(data))))
  }

  disconnectedCallback(): void {
    clearInterval(this.#timer)
    this.#events?.close()
  }

  #show({ state, step }: BuildState): void {
    if (state !== 'queued' && state !== 'running') {
      this.disconnectedCallback()
      location.reload()
      return
    }
    const items = [...this.querySelectorAll('li')]
    const at = items.findIndex((item) => item.dataset['step'] === step)
    for (const [index, item] of items.entries()) {
      item.className = index < at ? 'done' : ''
      if (index === at) item.setAttribute('aria-current', 'step')
      else item.removeAttribute('aria-current')
    }
    const status = this.querySelector('[role=status]')
    const label = items[at]?.textContent ?? t('Waiting for a place')
    if (status) status.textContent = `${label.trim()} …`
  }

  #showTime(elapsedMs: number): void {
    const time = this.querySelector('time')
    const seconds = Math.floor(elapsedMs / second)
    const rest = String(seconds % minute).padStart(2, '0')
    if (time) time.textContent = `${Math.floor(seconds / minute)}:${rest}`
  }
}

customElements.define('build-steps', BuildSteps)
