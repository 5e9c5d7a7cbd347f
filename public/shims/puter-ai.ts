import { dataUrl } from '../bridge/data-url.ts'
/**
 * Puter: `puter.ai`.
 * Source: https://docs.puter.com (November 2026).
 */
import type { Message, Tool } from '../bridge/service-types.ts'
import { field } from '../frame/messages.ts'
import { ai, extend, textOf, unavailable } from './bridge-calls.ts'

interface ChatOptions {
  model?: string
  stream?: boolean
  max_tokens?: number
  tools?: { function?: Tool }[]
}

const isOptions = (value: unknown): value is ChatOptions =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Blob)

/** Returns the image of a URL or a file, for models that see. */
const imagePart = async (given: unknown): Promise<object> => {
  const url = given instanceof Blob ? await dataUrl(given) : textOf(given)
  return { type: 'image_url', image_url: { url } }
}

/** Reads a file of `puter.fs`, by a path such as "~/photo.png". */
async function readFile(path: unknown): Promise<Blob> {
  const read: unknown = field(field(Reflect.get(window, 'puter'), 'fs'), 'read')
  if (typeof read !== 'function') throw new Error('This page has no files. Use puter.fs first.')
  return read(path)
}

/** Returns a message whose files of `puter.fs` are what models read. */
async function withFiles(message: Message): Promise<Message> {
  if (!Array.isArray(message.content)) return message
  const content = message.content.map(async (part: unknown) => {
    const path = field(part, 'puter_path')
    if (path === undefined) return part
    const file = await readFile(path)
    if (file.type.startsWith('image/')) return imagePart(file)
    return { type: 'text', text: await file.text() }
  })
  return { ...message, content: await Promise.all(content) }
}

/** Chats: a prompt or messages, perhaps images, perhaps a test mode, and options. */
async function chat(prompt: unknown, ...rest: unknown[]): Promise<unknown> {
  const options = rest.find(isOptions) ?? {}
  const images = rest.flat().filter((one) => typeof one === 'string' || one instanceof Blob)
  const content =
    images.length === 0
      ? textOf(prompt)
      : [{ type: 'text', text: textOf(prompt) }, ...(await Promise.all(images.map(imagePart)))]
  const messages: Message[] = Array.isArray(prompt)
    ? await Promise.all(prompt.map(withFiles))
    : [{ role: 'user', content }]
  const { model, stream, max_tokens: maxTokens } = options
  const tools = options.tools?.flatMap(({ function: tool }) => (tool ? [tool] : []))
  const running = ai.chat(messages, { model, maxTokens, tools })
  if (stream === true) return parts(running)
  const { text, toolCalls } = await running
  const calls = toolCalls?.map(({ id, name, input }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  // At Puter, messages of Claude have a list of parts.
  const isClaude = /claude/i.test(model ?? '') && !calls
  const reply = isClaude ? [{ type: 'text', text }] : text
  const message = { role: 'assistant', content: reply, ...(calls && { tool_calls: calls }) }
  // Pages print a reply as its text.
  return { index: 0, message, text, toString: () => text, valueOf: () => text }
}

async function* parts(reply: AsyncIterable<string>): AsyncGenerator<{ text: string }> {
  for await (const text of reply) yield { text }
}

/** Pages keep the `src` of what is made in `puter.kv`, so it is a data: URL, as at Puter. */
async function txt2img(prompt: unknown, options: unknown = prompt): Promise<HTMLImageElement> {
  const base64 = field(options, 'input_image')
  const type = textOf(field(options, 'input_image_mime_type') ?? 'image/png')
  const url =
    base64 === undefined ? '' : textOf(base64).replace(/^(?!data:)/, `data:${type};base64,`)
  const images = url === '' ? [] : [await (await fetch(url)).blob()]
  const { blob } = await ai.image(textOf(field(prompt, 'prompt') ?? prompt), { images })
  return Object.assign(new Image(), { src: await dataUrl(blob) })
}

const txt2speech = async (text: unknown): Promise<HTMLAudioElement> =>
  new Audio(await dataUrl((await ai.speech(textOf(text))).blob))

/** Returns what is said in a recording: a file, its URL, or options with either. */
async function speech2txt(given: unknown) {
  const audio = field(given, 'file') ?? field(given, 'audio') ?? given
  const isUrl = /^(?:https?|data|blob):/.test(textOf(audio))
  const blob =
    audio instanceof Blob
      ? audio
      : isUrl
        ? await (await fetch(textOf(audio))).blob()
        : await readFile(audio)
  const { text } = await ai.transcribe(blob)
  return { text, toString: () => text }
}

const provider = 'service'
const models = ['default', 'quick', 'complex'].map((id) => ({ id, name: id, provider }))

const absent = unavailable('puter.ai')

extend('puter', {
  ai: {
    txt2vid: Reflect.get(absent, 'txt2vid'),
    speech2speech: Reflect.get(absent, 'speech2speech'),
    chat,
    txt2img,
    txt2speech,
    speech2txt,
    listModels: async () => models,
    listModelProviders: async () => [provider],
    img2txt: (image: unknown) => chat('Read the text.', image),
  },
})
