import { formatNumber, t } from '../../../public/words.ts'
import { type CodeLanguage, type CodeRequest, requestCode } from './request-code.ts'
import { readValue, saveValue } from './tab-values.browser.ts'

/** A longer response is cut in the page. */
const shownCharsMax = 200_000

/** `<try-operation data-request="...">`: sends the request of its form, and shows it as code. */
class TryOperation extends HTMLElement {
  #running: AbortController | undefined

  connectedCallback(): void {
    const form = this.querySelector('form')
    if (!form) return
    const key = form.querySelector<HTMLInputElement>('input[name=KEY]')
    if (key) key.value = readValue('KEY')
    form.addEventListener('input', () => this.#showCode(form))
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void this.#send(form)
    })
    this.querySelector('.stop')?.addEventListener('click', () => this.#running?.abort())
  }

  /** Returns the request with the values of the form. Empty parameters are left out. */
  #read(form: HTMLFormElement): CodeRequest {
    const request: CodeRequest = JSON.parse(this.dataset['request'] ?? '')
    const query = new URLSearchParams()
    const fields: Record<string, string> = {}
    let [url = ''] = request.url.split('?')
    for (const [name, given] of new FormData(form)) {
      const value = typeof given === 'string' ? given : given.name && `@${given.name}`
      const [place, ...rest] = name.split(':')
      const field = rest.join(':')
      if (value === '') continue
      if (place === 'path') url = url.replace(`{${field}}`, encodePath(value))
      if (place === 'query') query.append(field, value)
      if (place === 'body') fields[field] = value
      if (place === 'json') request.json = value
      if (place === 'file') request.file = value.slice(1)
    }
    const { form: isForm, multipart } = request
    if (isForm) request.form = fields
    if (multipart) request.multipart = fields
    return { ...request, url: query.size > 0 ? `${url}?${query}` : url }
  }

  #showCode(form: HTMLFormElement): void {
    const key = form.querySelector<HTMLInputElement>('input[name=KEY]')
    if (key) saveValue('KEY', key.value.trim())
    const request = this.#read(form)
    for (const part of this.querySelectorAll<HTMLElement>('[data-language]')) {
      const code = part.querySelector('code')
      const language = part.dataset['language']
      if (code && isLanguage(language)) code.textContent = requestCode(language, request)
    }
  }

  async #send(form: HTMLFormElement): Promise<void> {
    const request = this.#read(form)
    const [status, reply] = [this.querySelector('.sent'), this.querySelector('.reply')]
    const stop = this.querySelector<HTMLElement>('.stop')
    if (!(status instanceof HTMLElement) || !(reply instanceof HTMLElement) || !stop) return
    const running = new AbortController()
    this.#running?.abort()
    this.#running = running
    reply.textContent = ''
    reply.hidden = false
    stop.hidden = false
    status.textContent = t('Sending…')
    const from = performance.now()
    try {
      const response = await fetch(request.url, {
        method: request.method,
        headers: headersOf(request, readValue('KEY')),
        signal: running.signal,
        ...bodyOf(form, request),
      })
      const milliseconds = Math.round(performance.now() - from)
      status.textContent = `${response.status} ${response.statusText} · ${milliseconds} ms`
      await show(response, reply)
    } catch {
      status.textContent = running.signal.aborted
        ? t('Stopped.')
        : t(
            'The request did not reach the server. Check the address and your network, then send it again.',
          )
    }
    if (this.#running === running) stop.hidden = true
  }
}

const isLanguage = (name: string | undefined): name is CodeLanguage =>
  name === 'curl' || name === 'typescript' || name === 'python'

/** Keeps the slashes of ids of models and of file paths. An apostrophe would end a text in code. */
const encodePath = (value: string): string =>
  encodeURIComponent(value).replaceAll('%2F', '/').replaceAll("'", '%27')

const headersOf = ({ json, file }: CodeRequest, key: string): Record<string, string> => ({
  ...(key !== '' && { authorization: `Bearer ${key}` }),
  ...(json !== undefined && { 'content-type': 'application/json' }),
  ...(file !== undefined && { 'content-type': 'application/octet-stream' }),
})

/** Returns the body of a request, with the files of the form themselves. */
function bodyOf(form: HTMLFormElement, request: CodeRequest): { body?: BodyInit } {
  if (request.json !== undefined) return { body: request.json }
  if (request.form) return { body: new URLSearchParams(request.form) }
  const sent = new FormData(form)
  const file = sent.get('file')
  if (file instanceof File) return { body: file }
  if (!request.multipart) return {}
  const body = new FormData()
  for (const name of Object.keys(request.multipart)) {
    const value = sent.get(`body:${name}`)
    if (value !== null) body.set(name, value)
  }
  return { body }
}

/** Shows the text of a response as it arrives, and JSON with indents. */
async function show(response: Response, reply: HTMLElement): Promise<void> {
  const type = response.headers.get('content-type') ?? ''
  if (!/json|text|xml|javascript|^$/.test(type)) {
    const { size } = await response.blob()
    reply.textContent = t('{size} bytes of {type}', { size: formatNumber(size), type })
    return
  }
  let text = ''
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += part.value
    reply.textContent = text.slice(0, shownCharsMax)
    if (text.length > shownCharsMax) await reader?.cancel()
  }
  if (type.includes('json')) reply.textContent = indented(text).slice(0, shownCharsMax)
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

customElements.define('try-operation', TryOperation)
