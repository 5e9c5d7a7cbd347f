/** XMLHttpRequest for calls of models: axios and older pages use it. */
import type { ModelCall } from './model-responses.ts'

type Send = (call: ModelCall, request: Request, given?: unknown) => Promise<Response>

/** The state of a request that the shell answers, on an object of the browser. */
class ModelXhr {
  readyState = 1
  status = 0
  responseText = ''
  bytes = new Uint8Array()
  readonly headers = new Headers()
  readonly ending = new AbortController()
  response: Response | undefined

  constructor(
    readonly xhr: XMLHttpRequest,
    readonly call: ModelCall,
    readonly url: string,
  ) {}

  get value(): unknown {
    switch (this.xhr.responseType) {
      case 'json':
        return this.readyState === 4 ? parsed(this.responseText) : null
      case 'arraybuffer':
        return this.bytes.buffer
      case 'blob':
        return new Blob([this.bytes], { type: this.header('content-type') ?? '' })
      default:
        return this.responseText
    }
  }

  header(name: string): string | null {
    return this.response?.headers.get(name) ?? null
  }

  move(readyState: number): void {
    this.readyState = readyState
    this.xhr.dispatchEvent(new Event('readystatechange'))
  }

  tell(type: string): void {
    const loaded = this.bytes.byteLength
    this.xhr.dispatchEvent(new ProgressEvent(type, { loaded, lengthComputable: false }))
  }

  async run(send: Send, body: BodyInit | null): Promise<void> {
    const { signal } = this.ending
    const init = { method: 'POST', headers: this.headers, body, signal }
    this.tell('loadstart')
    try {
      this.response = await send(this.call, new Request(this.url, init), body)
      this.status = this.response.status
      this.move(2)
      await this.#read(this.response)
      this.move(4)
      this.tell('load')
    } catch {
      this.status = 0
      this.move(4)
      this.tell(signal.aborted ? 'abort' : 'error')
    }
    this.tell('loadend')
  }

  async #read({ body }: Response): Promise<void> {
    const reader = body?.getReader()
    const decoder = new TextDecoder()
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      const bytes = new Uint8Array(this.bytes.byteLength + next.value.byteLength)
      bytes.set(this.bytes)
      bytes.set(next.value, this.bytes.byteLength)
      this.bytes = bytes
      this.responseText += decoder.decode(next.value, { stream: true })
      this.move(3)
      this.tell('progress')
    }
  }
}

/** Returns whether a request sends a value. A document and everything else is no body of a call. */
const isBody = (value: unknown): value is BodyInit =>
  typeof value === 'string' ||
  ArrayBuffer.isView(value) ||
  [Blob, FormData, URLSearchParams, ArrayBuffer].some((kind) => value instanceof kind)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Answers the requests of XMLHttpRequest that call a model. All others are the browser's. */
export function replaceXhr(
  findCall: (method: string, url: string) => ModelCall | undefined,
  send: Send,
): void {
  const own = new WeakMap<XMLHttpRequest, ModelXhr>()
  const { prototype } = XMLHttpRequest
  const replace = (
    name: 'open' | 'send' | 'abort' | 'setRequestHeader',
    run: (request: ModelXhr, given: unknown[]) => void,
  ): void => {
    const real = prototype[name]
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: XMLHttpRequest, ...given: unknown[]) {
        if (name === 'open') {
          const [method, url] = given.map(String)
          const call = findCall(method ?? '', url ?? '')
          own.delete(this)
          if (call && given[2] === false) {
            const message = 'Calls of models are asynchronous here. Open the request so.'
            throw new DOMException(message, 'InvalidAccessError')
          }
          if (call) own.set(this, new ModelXhr(this, call, url ?? ''))
        }
        const request = own.get(this)
        return request ? run(request, given) : Reflect.apply(real, this, given)
      },
    })
  }
  replace('open', (request) => request.move(1))
  replace('setRequestHeader', ({ headers }, [name, value]) =>
    headers.set(String(name), String(value)),
  )
  replace('abort', ({ ending }) => ending.abort())
  replace('send', (request, [body]) => {
    void request.run(send, isBody(body) ? body : null)
  })
  replaceFields(own)
}

function replaceFields(own: WeakMap<XMLHttpRequest, ModelXhr>): void {
  const { prototype } = XMLHttpRequest
  const read = (name: string, get: (request: ModelXhr) => unknown): void => {
    const real = Object.getOwnPropertyDescriptor(prototype, name)
    Object.defineProperty(prototype, name, {
      configurable: true,
      get(this: XMLHttpRequest) {
        const request = own.get(this)
        return request ? get(request) : real?.get && Reflect.apply(real.get, this, [])
      },
    })
  }
  read('readyState', ({ readyState }) => readyState)
  read('status', ({ status }) => status)
  read('statusText', ({ status }) => (status === 200 ? 'OK' : ''))
  read('responseText', ({ responseText }) => responseText)
  read('response', ({ value }) => value)
  read('responseURL', ({ url }) => url)
  const call = (name: 'getResponseHeader' | 'getAllResponseHeaders', run: Header): void => {
    const real = prototype[name]
    Object.defineProperty(prototype, name, {
      configurable: true,
      writable: true,
      value(this: XMLHttpRequest, ...given: unknown[]) {
        const request = own.get(this)
        return request ? run(request, String(given[0])) : Reflect.apply(real, this, given)
      },
    })
  }
  call('getResponseHeader', (request, name) => request.header(name))
  call('getAllResponseHeaders', (request) => `content-type: ${request.header('content-type')}\r\n`)
}

type Header = (request: ModelXhr, name: string) => string | null
