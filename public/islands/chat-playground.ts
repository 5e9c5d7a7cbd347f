const triesMax = 6
const tryMs = 250

/** What was said, as the form carries it. */
interface Turn {
  role: 'user' | 'assistant'
  content: string
  told?: string
}

/** What a server-sent event of the gateway says (document 2, section 6). */
interface Chunk {
  choices?: { delta?: { content?: string | null } }[]
  error?: { message: string }
}

/** `<chat-playground>`: its form is answered in place, as a stream that can be stopped. */
class ChatPlayground extends HTMLElement {
  #asked: AbortController | undefined
  #stop = document.createElement('button')

  connectedCallback(): void {
    const form = this.querySelector('form')
    const text = this.querySelector<HTMLTextAreaElement>('textarea[name=text]')
    if (!form || !text) return
    this.#stop.type = 'button'
    this.#stop.className = 'button quiet'
    this.#stop.textContent = 'Stop'
    this.#stop.addEventListener('click', () => this.#asked?.abort())
    text.placeholder = 'Enter sends, Shift+Enter begins a line'
    text.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      form.requestSubmit()
    })
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      if (!this.#asked) void this.#ask(form, text)
    })
  }

  async #ask(form: HTMLFormElement, text: HTMLTextAreaElement): Promise<void> {
    const asked = new AbortController()
    this.#asked = asked
    const body = new URLSearchParams({ stream: 'yes' })
    for (const [name, value] of new FormData(form)) body.set(name, String(value))
    const words = text.value
    text.value = ''
    this.querySelector('.alert')?.remove()
    const mine = this.#add('user', words)
    const its = this.#add('assistant', '')
    this.#busy(true)
    const answer = await this.#answer(form, body, its, asked.signal)
    if (its.textContent === '') {
      for (const shown of [mine, its]) shown.closest('article')?.remove()
      text.value ||= words
    } else {
      this.#keep(form, { role: 'user', content: words })
      const told = await this.#told(form, its, answer.id)
      this.#keep(form, { role: 'assistant', content: its.textContent, ...(told && { told }) })
    }
    if (answer.fault !== undefined) this.#say(answer.fault)
    this.#busy(false)
    this.#asked = undefined
    text.focus()
  }

  /** Writes an answer down as it comes; a fault is what was said in its place, or after it. */
  async #answer(
    form: HTMLFormElement,
    body: URLSearchParams,
    its: HTMLElement,
    signal: AbortSignal,
  ): Promise<{ id: string; fault?: string }> {
    let id = ''
    try {
      const response = await fetch(form.action, { method: 'POST', body, signal })
      id = response.headers.get('x-request-id') ?? ''
      if (response.redirected) location.assign(response.url)
      const type = response.headers.get('content-type') ?? ''
      if (type.startsWith('application/json')) {
        const { error }: Chunk = await response.json()
        return { id, fault: error?.message ?? 'That did not work. Try again.' }
      }
      if (!response.body || !type.startsWith('text/event-stream')) {
        return { id, fault: 'This page is out of date. Load it again.' }
      }
      const fault = await this.#read(response.body, its)
      return { id, ...(fault !== undefined && { fault }) }
    } catch {
      return signal.aborted ? { id } : { id, fault: 'The connection broke. Try again.' }
    }
  }

  async #read(stream: ReadableStream<Uint8Array>, its: HTMLElement): Promise<string | undefined> {
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
        its.append(choices?.[0]?.delta?.content ?? '')
      }
      its.closest('.log')?.scrollTo(0, its.closest('.log')?.scrollHeight ?? 0)
    }
  }

  /** What the answer came to: it is settled when the stream has ended, or a moment after. */
  async #told(form: HTMLFormElement, its: HTMLElement, id: string): Promise<string | undefined> {
    for (let tries = 0; tries < triesMax && id !== ''; tries += 1) {
      const response = await fetch(`${form.action}/${id}`).catch(() => undefined)
      if (response?.ok && !response.redirected) {
        const { told, left }: { told: string; left: string } = await response.json()
        const line = document.createElement('p')
        line.className = 'small'
        line.textContent = told
        its.after(line)
        this.querySelector('[data-left]')?.replaceChildren(left)
        return told
      }
      await new Promise((wake) => setTimeout(wake, tryMs))
    }
    return undefined
  }

  #add(role: Turn['role'], words: string): HTMLElement {
    const article = document.createElement('article')
    article.className = `turn ${role}`
    const who = document.createElement('h2')
    who.textContent = role === 'user' ? 'You' : 'Model'
    const said = document.createElement('p')
    said.className = 'words'
    said.textContent = words
    article.append(who, said)
    this.querySelector('.log')?.append(article)
    return said
  }

  #keep(form: HTMLFormElement, turn: Turn): void {
    const kept = form.elements.namedItem('turns')
    if (!(kept instanceof HTMLInputElement)) return
    const turns: Turn[] = JSON.parse(kept.value)
    kept.value = JSON.stringify([...turns, turn])
  }

  #say(fault: string): void {
    const line = document.createElement('p')
    line.className = 'alert'
    line.setAttribute('role', 'alert')
    line.textContent = fault
    this.querySelector('.log')?.after(line)
  }

  #busy(is: boolean): void {
    if (is) this.querySelector('.acts')?.append(this.#stop)
    else this.#stop.remove()
    this.querySelector('.log')?.setAttribute('aria-busy', String(is))
    this.querySelector<HTMLButtonElement>('.acts .button')?.toggleAttribute('disabled', is)
  }
}

customElements.define('chat-playground', ChatPlayground)
