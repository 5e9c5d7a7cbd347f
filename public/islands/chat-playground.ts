const triesMax = 6
const tryMs = 250

/** A message in the form's `turns` field. */
interface Turn {
  role: 'user' | 'assistant'
  content: string
  summary?: string
}

/** A server-sent event of the gateway (document 2, section 6). */
interface Chunk {
  choices?: { delta?: { content?: string | null } }[]
  error?: { message: string }
}

/** `<chat-playground>`: streams the reply into the page, with a button that stops it. */
class ChatPlayground extends HTMLElement {
  #controller: AbortController | undefined
  #stop = document.createElement('button')

  connectedCallback(): void {
    const form = this.querySelector('form')
    const text = this.querySelector<HTMLTextAreaElement>('textarea[name=text]')
    if (!form || !text) return
    this.#stop.type = 'button'
    this.#stop.className = 'button quiet'
    this.#stop.textContent = 'Stop'
    this.#stop.addEventListener('click', () => this.#controller?.abort())
    text.placeholder = 'Enter to send, Shift+Enter for a new line'
    text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      form.requestSubmit()
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (!this.#controller) void this.#send(form, text)
    })
  }

  async #send(form: HTMLFormElement, text: HTMLTextAreaElement): Promise<void> {
    const controller = new AbortController()
    this.#controller = controller
    const body = new URLSearchParams({ stream: 'yes' })
    for (const [name, value] of new FormData(form)) body.set(name, String(value))
    const content = text.value
    text.value = ''
    this.querySelector('.alert')?.remove()
    const question = this.#add('user', content)
    const reply = this.#add('assistant', '')
    this.#setBusy(true)
    const answer = await this.#stream(form, body, reply, controller.signal)
    if (reply.textContent === '') {
      for (const shown of [question, reply]) shown.closest('article')?.remove()
      text.value ||= content
    } else {
      this.#store(form, { role: 'user', content })
      const summary = await this.#addSummary(form, reply, answer.id)
      const turn = { role: 'assistant', content: reply.textContent } as const
      this.#store(form, { ...turn, ...(summary && { summary }) })
    }
    if (answer.error !== undefined) this.#showError(answer.error)
    this.#setBusy(false)
    this.#controller = undefined
    text.focus()
  }

  /** Streams the reply into the page. Returns the request ID and any error. */
  async #stream(
    form: HTMLFormElement,
    body: URLSearchParams,
    reply: HTMLElement,
    signal: AbortSignal,
  ): Promise<{ id: string; error?: string }> {
    let id = ''
    try {
      const response = await fetch(form.action, { method: 'POST', body, signal })
      id = response.headers.get('x-request-id') ?? ''
      if (response.redirected) location.assign(response.url)
      const type = response.headers.get('content-type') ?? ''
      if (type.startsWith('application/json')) {
        const { error }: Chunk = await response.json()
        return { id, error: error?.message ?? 'The request failed. Try again.' }
      }
      if (!response.body || !type.startsWith('text/event-stream')) {
        return { id, error: 'This page expired. Reload it.' }
      }
      const error = await this.#read(response.body, reply)
      return { id, ...(error !== undefined && { error }) }
    } catch {
      return signal.aborted ? { id } : { id, error: 'The connection was lost. Try again.' }
    }
  }

  async #read(stream: ReadableStream<Uint8Array>, reply: HTMLElement): Promise<string | undefined> {
    const [reader, decoder] = [stream.getReader(), new TextDecoder()]
    for (let rest = ''; ;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (!line.startsWith('data: {')) continue
        const { choices, error }: Chunk = JSON.parse(line.slice('data: '.length))
        if (error) return error.message
        reply.append(choices?.[0]?.delta?.content ?? '')
      }
      reply.closest('.log')?.scrollTo(0, reply.closest('.log')?.scrollHeight ?? 0)
    }
  }

  /** Adds the summary of the reply, which is available shortly after the stream ends. */
  async #addSummary(
    form: HTMLFormElement,
    reply: HTMLElement,
    id: string,
  ): Promise<string | undefined> {
    for (let tries = 0; tries < triesMax && id !== ''; tries += 1) {
      const response = await fetch(`${form.action}/${id}`).catch(() => undefined)
      if (response?.ok && !response.redirected) {
        const { summary, left }: { summary: string; left: string } = await response.json()
        const line = document.createElement('p')
        line.className = 'small'
        line.textContent = summary
        reply.after(line)
        this.querySelector('[data-left]')?.replaceChildren(left)
        return summary
      }
      await new Promise((wake) => setTimeout(wake, tryMs))
    }
    return undefined
  }

  #add(role: Turn['role'], content: string): HTMLElement {
    const article = document.createElement('article')
    article.className = `turn ${role}`
    const author = document.createElement('h2')
    author.textContent = role === 'user' ? 'You' : 'Model'
    const text = document.createElement('p')
    text.className = 'turn-text'
    text.textContent = content
    article.append(author, text)
    this.querySelector('.log')?.append(article)
    return text
  }

  #store(form: HTMLFormElement, turn: Turn): void {
    const field = form.elements.namedItem('turns')
    if (!(field instanceof HTMLInputElement)) return
    const turns: Turn[] = JSON.parse(field.value)
    field.value = JSON.stringify([...turns, turn])
  }

  #showError(error: string): void {
    const line = document.createElement('p')
    line.className = 'alert'
    line.setAttribute('role', 'alert')
    line.textContent = error
    this.querySelector('.log')?.after(line)
  }

  #setBusy(is: boolean): void {
    if (is) this.querySelector('.actions')?.append(this.#stop)
    else this.#stop.remove()
    this.querySelector('.log')?.setAttribute('aria-busy', String(is))
    this.querySelector<HTMLButtonElement>('.actions .button')?.toggleAttribute('disabled', is)
  }
}

customElements.define('chat-playground', ChatPlayground)
