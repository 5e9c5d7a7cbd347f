/**
 * Poe canvas apps: `Poe.sendUserMessage` and `Poe.registerHandler`.
 * Source: https://creator.poe.com/docs/canvas-apps (November 2026).
 */
import { put } from '../frame/quiet.ts'
import { ai, dataUrl, textOf } from './bridge-calls.ts'

type Handler = (result: object, context: unknown) => void
const handlers = new Map<string, Handler>()

/** The error of a call, with the types that pages test. */
class APIError extends Error {
  constructor(
    message: string,
    readonly errorType: 'USER_REJECTED_CONFIRMATION' | 'INVALID_INPUT' | 'UNKNOWN',
  ) {
    super(message)
    this.name = 'PoeEmbedAPIError'
  }
}

interface SendOptions {
  handler?: string
  stream?: boolean
  handlerContext?: unknown
  attachments?: File[]
}

let count = 0

/** Names that draw or speak. Every other bot chats. */
const painters = /image|flux|dall|stable|imagen|ideogram/i
const speakers = /voice|speech|tts|eleven/i

async function sendUserMessage(given: unknown, options: SendOptions = {}) {
  const { handler = '', stream = false, handlerContext, attachments = [] } = options
  const [, bot = 'Assistant', text = ''] = /^\s*(?:@([\w.-]+)\s+)?([^]*)$/.exec(textOf(given)) ?? []
  if (text === '') throw new APIError('The message is empty.', 'INVALID_INPUT')
  const messageId = `m${(count += 1)}`
  const tell = (status: string, content: string, more: object = {}): void => {
    const response = { messageId, senderId: bot, content, contentType: 'text/markdown', status }
    const result = { status, responses: [{ ...response, ...more }] }
    handlers.get(handler)?.(result, handlerContext)
  }
  const work = painters.test(bot)
    ? attach(ai.image(text), 'image.png')
    : speakers.test(bot)
      ? attach(ai.speech(text), 'speech.mp3')
      : chat(text, bot, attachments, (content) => stream && tell('incomplete', content))
  const isNotified = handlers.has(handler)
  const done = work.then(
    ({ content, more }) => tell('complete', content, more),
    (error: Error) => {
      const isDenied = Reflect.get(error, 'code') === 'not_granted'
      tell('error', '', { statusText: error.message })
      throw new APIError(error.message, isDenied ? 'USER_REJECTED_CONFIRMATION' : 'UNKNOWN')
    },
  )
  // With a handler, the call ends when the message is sent; it reports the rest.
  if (!isNotified) await done
  else await Promise.race([done, Promise.resolve()])
  done.catch(() => undefined)
  return { success: true }
}

async function attach(made: Promise<{ blob: Blob }>, name: string) {
  const { blob } = await made
  const attachment = { name, mimeType: blob.type, url: await dataUrl(blob), isInline: true }
  return { content: '', more: { attachments: [attachment] } }
}

async function chat(
  text: string,
  model: string,
  attachments: File[],
  onContent: (content: string) => void,
) {
  const images = attachments.filter(({ type }) => type.startsWith('image/'))
  const onText = (_: string, all: string): void => onContent(all)
  const { text: content } = await ai.chat(text, { model, images, onText })
  return { content, more: {} }
}

put(window, 'Poe', {
  sendUserMessage,
  registerHandler: (name: unknown, handler: Handler): void =>
    void handlers.set(textOf(name), handler),
  APIError,
})
