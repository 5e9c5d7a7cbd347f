import { dataUrl } from '../bridge/data-url.ts'
/**
 * The Prompt API of Chrome: `LanguageModel`, and the older `ai.languageModel`, `ai.assistant` and
 * `ai.createTextSession`. The one of the browser is unavailable in the frame. Source:
 * https://github.com/webmachinelearning/prompt-api (November 2026).
 */
import type { Message, Tool } from '../bridge/service-types.ts'
import { field } from '../frame/messages.ts'
import { put } from '../frame/quiet.ts'
import { ai, textOf } from './bridge-calls.ts'

const quota = 65_536

interface SessionOptions {
  initialPrompts?: Message[]
  expectedInputs?: { type?: string }[]
  topK?: number
  temperature?: number
  systemPrompt?: string
  tools?: (Tool & { inputSchema?: object })[]
  signal?: AbortSignal
  /** Gets the target of the events of a download, which is over at once here. */
  monitor?: (target: EventTarget) => void
}

interface PromptOptions {
  responseConstraint?: object
  signal?: AbortSignal
}

const messagesOf = (input: unknown): Message[] =>
  Array.isArray(input) ? input : [{ role: 'user', content: textOf(input) }]

/** Returns a picture as a blob: that of a file, a canvas, a bitmap or an element. */
async function blobOf(image: unknown): Promise<Blob> {
  if (image instanceof Blob) return image
  if (image instanceof ArrayBuffer) return new Blob([image])
  const isDrawable =
    image instanceof HTMLCanvasElement ||
    image instanceof HTMLImageElement ||
    image instanceof ImageBitmap
  if (!isDrawable) throw new TypeError('The value of the prompt is no picture.')
  const canvas = new OffscreenCanvas(image.width, image.height)
  canvas.getContext('2d')?.drawImage(image, 0, 0)
  return canvas.convertToBlob()
}

/** Returns a part of a prompt as models get it. */
async function partOf(part: unknown): Promise<unknown> {
  const [type, value] = [field(part, 'type'), field(part, 'value')]
  if (type === 'image')
    return { type: 'image_url', image_url: { url: await dataUrl(await blobOf(value)) } }
  if (type === 'audio') {
    throw new DOMException(
      'Prompts here take texts and images. Send no audio.',
      'NotSupportedError',
    )
  }
  return type === 'text' && value !== undefined ? { type, text: textOf(value) } : part
}

/** Returns messages as models get them. */
const sentOf = (messages: Message[]): Promise<Message[]> =>
  Promise.all(
    messages.map(async ({ role, content }) => ({
      role,
      content: Array.isArray(content) ? await Promise.all(content.map(partOf)) : content,
    })),
  )

/** The errors of browsers by the codes of `service`. */
const errorNames = new Map([
  ['cancelled', 'AbortError'],
  ['not_granted', 'NotAllowedError'],
  ['too_large', 'QuotaExceededError'],
])

/** A conversation. Each prompt and its reply become part of it. */
class LanguageModel extends EventTarget {
  static availability = async ({ expectedInputs = [] }: SessionOptions = {}): Promise<string> =>
    expectedInputs.some(({ type }) => type === 'audio') ? 'unavailable' : 'available'
  static capabilities = async () => ({ available: 'readily' })
  static params = async () => ({
    defaultTopK: 3,
    maxTopK: 8,
    defaultTemperature: 1,
    maxTemperature: 2,
  })

  static async create(options: SessionOptions = {}): Promise<LanguageModel> {
    options.signal?.throwIfAborted()
    const download = new EventTarget()
    options.monitor?.(download)
    for (const loaded of [0, 1])
      download.dispatchEvent(new ProgressEvent('downloadprogress', { loaded, total: 1 }))
    const { systemPrompt, initialPrompts = [] } = options
    const system: Message[] = systemPrompt ? [{ role: 'system', content: systemPrompt }] : []
    return new LanguageModel([...system, ...(await sentOf(initialPrompts))], options)
  }

  readonly topK: number
  readonly temperature: number
  readonly inputQuota = quota
  readonly contextWindow = quota
  readonly #ending = new AbortController()

  constructor(
    private messages: Message[],
    private readonly options: SessionOptions,
  ) {
    super()
    this.topK = options.topK ?? 3
    this.temperature = options.temperature ?? 1
  }

  get inputUsage(): number {
    return Math.ceil(JSON.stringify(this.messages).length / 4)
  }

  get contextUsage(): number {
    return this.inputUsage
  }

  async prompt(input: unknown, options: PromptOptions = {}): Promise<string> {
    let all = ''
    for await (const piece of this.#reply(input, options)) all += piece
    return all
  }

  promptStreaming(input: unknown, options: PromptOptions = {}): ReadableStream<string> {
    const ending = new AbortController()
    const signals = [ending.signal, options.signal ?? this.options.signal ?? []].flat()
    const reply = this.#reply(input, { ...options, signal: AbortSignal.any(signals) })
    return new ReadableStream({
      // A reader that leaves pays for no more.
      cancel: () => ending.abort(),
      async pull(stream) {
        try {
          const { done, value } = await reply.next()
          if (done) stream.close()
          else stream.enqueue(value)
        } catch (error) {
          stream.error(error)
        }
      },
    })
  }

  async append(input: unknown): Promise<void> {
    this.messages.push(...(await sentOf(messagesOf(input))))
  }

  // Their names in older versions.
  get maxTokens(): number {
    return quota
  }

  get tokensSoFar(): number {
    return this.inputUsage
  }

  get tokensLeft(): number {
    return quota - this.inputUsage
  }

  countPromptTokens(input: unknown): Promise<number> {
    return this.measureInputUsage(input)
  }

  async measureInputUsage(input: unknown): Promise<number> {
    return Math.ceil(JSON.stringify(messagesOf(input)).length / 4)
  }

  measureContextUsage(input: unknown): Promise<number> {
    return this.measureInputUsage(input)
  }

  async clone(): Promise<LanguageModel> {
    return new LanguageModel([...this.messages], this.options)
  }

  /** Ends also what the session is replying. */
  destroy(): void {
    this.#ending.abort()
  }

  async *#reply(input: unknown, options: PromptOptions): AsyncGenerator<string> {
    if (this.#ending.signal.aborted) {
      throw new DOMException('The session is destroyed.', 'InvalidStateError')
    }
    const { responseConstraint } = options
    const signals = [this.#ending.signal, options.signal ?? this.options.signal ?? []].flat()
    const signal = AbortSignal.any(signals)
    // Models take schemas, and no regular expressions.
    const json = responseConstraint instanceof RegExp ? undefined : responseConstraint
    const tools = this.options.tools?.map(({ inputSchema, ...tool }) => ({
      parameters: inputSchema,
      ...tool,
    }))
    const prompts = await sentOf(messagesOf(input))
    const chat = ai.chat([...this.messages, ...prompts], { json, signal, tools })
    try {
      yield* chat
      const { text } = await chat
      this.messages.push(...prompts, { role: 'assistant', content: text })
    } catch (error) {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
      const { message } = error instanceof Error ? error : new Error(String(error))
      const name = errorNames.get(String(code))
      throw name === undefined ? error : new DOMException(message, name)
    }
  }
}

put(window, 'LanguageModel', LanguageModel)
const older: object = Reflect.get(window, 'ai') ?? {}
put(window, 'ai', {
  ...older,
  languageModel: LanguageModel,
  assistant: LanguageModel,
  // The first form of the API.
  canCreateTextSession: async () => 'readily',
  createTextSession: (options?: SessionOptions) => LanguageModel.create(options),
})
