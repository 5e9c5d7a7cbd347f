import { dataUrl } from '../bridge/data-url.ts'
/**
 * websim: `websim.chat.completions.create`, `imageGen`, `textToSpeech`, and the older
 * `fetch('/api/ai_completion')`. Source: the documentation and public pages of websim (November
 * 2026).
 */
import type { Message } from '../bridge/service-types.ts'
import { field } from '../frame/messages.ts'
import { put } from '../frame/quiet.ts'
import { ai, extend, textOf } from './bridge-calls.ts'
// Pages take functions of the user from `websim` in forms that no pattern finds.
import './websim-user.ts'

interface ChatRequest {
  messages?: Message[]
  json?: boolean
}

const create = async ({ messages = [], json = false }: ChatRequest = {}) => {
  const { text, json: value } = await ai.chat(messages, { json })
  return { role: 'assistant', content: json ? JSON.stringify(value) : text }
}

/** Sizes of images by the aspect ratio that a page asks for. */
const sizes = new Map([
  ['16:9', '1536x1024'],
  ['3:2', '1536x1024'],
  ['9:16', '1024x1536'],
  ['2:3', '1024x1536'],
])

/** Returns the size of an image: by the ratio that a page asks for, or by its sides. */
function sizeOf(request: unknown): { size?: string } {
  const ratio = textOf(field(request, 'aspect_ratio'))
  const sides = Number(field(request, 'width')) / Number(field(request, 'height'))
  const near = sides > 1.2 ? '3:2' : sides < 1 / 1.2 ? '2:3' : ''
  const size = sizes.get(ratio || near)
  return size === undefined ? {} : { size }
}

/** Pages that share records get an address that lasts (websim-files.ts). */
function addressOf(blob: Blob): Promise<string> {
  const upload: unknown = field(Reflect.get(window, 'websim'), 'upload')
  return typeof upload === 'function' ? upload(blob) : dataUrl(blob)
}

/** Returns a picture of a page, by its address. */
const load = async (input: unknown): Promise<Blob> =>
  (await fetch(textOf(field(input, 'url') ?? input))).blob()

async function imageGen(request: unknown = {}) {
  const inputs = [field(request, 'image_inputs') ?? []].flat()
  const images = await Promise.all(inputs.map(load))
  const { blob } = await ai.image(textOf(field(request, 'prompt')), { ...sizeOf(request), images })
  return { url: await addressOf(blob) }
}

async function textToSpeech(request: unknown = {}) {
  const { blob } = await ai.speech(textOf(field(request, 'text')))
  return { url: await addressOf(blob) }
}

extend('websim', {
  chat: { completions: { create } },
  imageGen,
  textToSpeech,
})

/** The older call: its answer is the JSON itself. */
const oldPath = /(?:^|\/)api\/ai_completion$/
const { fetch: realFetch } = window
put(window, 'fetch', async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  const url = input instanceof Request ? input.url : String(input)
  if (!oldPath.test(url)) return realFetch(input, init)
  const request = input instanceof Request ? input : undefined
  const signal = init?.signal ?? request?.signal
  const sent: unknown = JSON.parse(request ? await request.text() : textOf(init?.body ?? '{}'))
  const prompt = textOf(field(sent, 'prompt'))
  const data = JSON.stringify(field(sent, 'data') ?? null)
  const content = `${prompt}\n\nReply with JSON only.\n\n<data>${data}</data>`
  try {
    const { json } = await ai.chat([{ role: 'user', content }], { json: true, signal })
    return Response.json(json)
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    // Pages repeat other statuses.
    return Response.json({ error: textOf(field(error, 'message')) }, { status: 403 })
  }
})
