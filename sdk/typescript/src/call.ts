import { readEvents } from './events.ts'
import { type CallOptions, type Input, type Operation, send, type Transport } from './transport.ts'

type KeyOf<Union> = Union extends unknown ? keyof Union : never

/** One of several responses. All have the fields of all, so that a field tells them apart. */
export type OneOf<Union, Key extends PropertyKey = KeyOf<Union>> = Union extends unknown
  ? Union & { [name in Exclude<Key, keyof Union>]?: undefined }
  : never

/**
 * A call of an operation, which starts when it is awaited or iterated. `await` returns the response.
 * `for await` returns the items of all pages of a list, or the events of a stream.
 */
export class Call<Result, Item = never> implements Promise<Result>, AsyncIterable<Item> {
  readonly [Symbol.toStringTag] = 'Call'
  #result: Promise<Result> | undefined

  constructor(
    private readonly transport: Transport,
    private readonly operation: Operation,
    private readonly input: Input,
    private readonly options: CallOptions | undefined,
  ) {}

  // oxlint-disable-next-line unicorn/no-thenable
  then<Value = Result, Other = never>(
    onValue?: ((value: Result) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Value | Other> {
    this.#result ??= this.respond(this.input) as Promise<Result>
    return this.#result.then(onValue, onError)
  }

  catch<Other = never>(
    onError?: ((error: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<Result | Other> {
    return this.then(null, onError)
  }

  finally(onEnd?: (() => void) | null): Promise<Result> {
    return this.then().finally(onEnd)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    const { items, events, path } = this.operation
    if (items !== undefined) return yield* this.pages(items)
    if (events === undefined) throw new TypeError(`${path} returns no list and no stream.`)
    yield* this.events(events)
  }

  private async respond(input: Input): Promise<unknown> {
    const response = await send(this.transport, this.operation, input, this.options)
    const type = response.headers.get('content-type') ?? ''
    if (response.status === 204) return undefined
    if (this.operation.file) return response.blob()
    if (/^application\/([\w.]+\+)?json/.test(type)) return response.json()
    return /^text\/|xml/.test(type) ? response.text() : response.blob()
  }

  private async *pages(items: string): AsyncGenerator<Item, void> {
    let input: Input | undefined = this.input
    while (input) {
      const page = (await this.respond(input)) as Record<string, unknown>
      yield* page[items] as Item[]
      // The Agent API names the next page; the gateway follows OpenAI.
      const { next, has_more: hasMore, last_id: last } = page
      input = next ? { ...input, cursor: next } : hasMore ? { ...input, after: last } : undefined
    }
  }

  /** A stream that breaks off goes on after its last event, where the server keeps it. */
  private async *events(events: 'only' | 'asked'): AsyncGenerator<Item, void> {
    const input = events === 'only' ? this.input : { ...this.input, stream: true }
    let headers = this.options?.headers ?? {}
    for (;;) {
      const response = await send(this.transport, this.operation, input, {
        ...this.options,
        headers,
      })
      // 204 ends a stream: HTML, "Server-sent events".
      if (!response.body || response.status === 204) return
      let last: string | undefined
      try {
        for await (const { id, data } of readEvents(response.body)) {
          if (data === '[DONE]') return
          yield JSON.parse(data) as Item
          last = id ?? last
        }
        if (events === 'asked' || last === undefined) return
      } catch (error) {
        if (events === 'asked' || last === undefined || this.options?.signal?.aborted) throw error
      }
      headers = { ...headers, 'last-event-id': last }
    }
  }
}
