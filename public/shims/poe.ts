import { dataUrl } from '../bridge/data-url.ts'
/**
 * Poe canvas apps: `Poe.sendUserMessage` and `Poe.registerHandler`, and the newer `Poe.stream` and
 * `Poe.call`, also by import (src/apps/libraries/host-modules.ts). Sources:
 * https://creator.poe.com/docs/poe-embed-api, and the documentation of Poe's platform of apps
 * (November 2026).
 */
import type { Message, Tool } from '../bridge/service-types.ts'
import { field } from '../frame/messages.ts'
import { put } from '../frame/quiet.ts'
import { ai, textOf } from './bridge-calls.ts'

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

const isImage = ({ type }: File): boolean => type.startsWith('image/')

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
    ? attach(ai.image(text, { images: attachments.filter(isImage) }), 'image.png')
    : speakers.test(bot)
      ? attach(ai.speech(text), 'speech.mp3')
      : chat(text, bot, attachments, (content) => {
          start()
          if (stream) tell('incomplete', content)
        })
  const isNotified = handlers.has(handler)
  let start: () => void = () => undefined
  const isStarted = new Promise<void>((resolve) => (start = resolve))
  const done = work.then(
    ({ content, more }) => tell('complete', content, more),
    (error: Error) => {
      const isDenied = Reflect.get(error, 'code') === 'not_granted'
      tell('error', '', { statusText: error.message })
      throw new APIError(error.message, isDenied ? 'USER_REJECTED_CONFIRMATION' : 'UNKNOWN')
    },
  )
  done.catch(() => undefined)
  // With a handler, the call ends when the reply begins; a player who does not agree ends it, too.
  await (isNotified ? Promise.race([done, isStarted]) : done)
  return { success: true }
}

async function attach(made: Promise<{ blob: Blob }>, name: string) {
  const { blob } = await made
  const file = { name, mimeType: blob.type, url: await dataUrl(blob) }
  const attachment = { attachmentId: `a${count}`, ...file, isInline: true }
  return { content: '', more: { attachments: [attachment] } }
}

async function chat(
  text: string,
  model: string,
  attachments: File[],
  onContent: (content: string) => void,
) {
  const images = attachments.filter(isImage)
  const files = attachments.filter(({ type }) => /^text\/|json|csv|xml/.test(type))
  const texts = files.map(async (file) => `\n\n${file.name}:\n${await file.text()}`)
  const prompt = text + (await Promise.all(texts)).join('')
  const onText = (_: string, all: string): void => onContent(all)
  const { text: content } = await ai.chat(prompt, { model, images, onText })
  return { content, more: {} }
}

interface BotRequest {
  botName?: string
  prompts: unknown
  tools?: (Tool & { run?: Tool['execute'] })[]
  signal?: AbortSignal
}

/** Returns the messages of the newer calls, whose bots have the role "bot". */
const messagesOf = (prompts: unknown): Message[] =>
  [prompts].flat().map((prompt): Message => {
    if (typeof prompt === 'string') return { role: 'user', content: prompt }
    const role = textOf(field(prompt, 'role'))
    return {
      role: role === 'system' ? role : /^(?:bot|assistant)$/.test(role) ? 'assistant' : 'user',
      content: field(prompt, 'content'),
    }
  })

/** Yields the reply of a bot as it arrives. Tools with a function run, and the chat goes on. */
async function* call({ botName, prompts, tools = [], signal }: BotRequest) {
  const chatTools = tools.map(({ run, ...tool }) => ({ ...tool, ...(run && { execute: run }) }))
  const options = { model: botName, tools: chatTools, ...(signal && { signal }) }
  for await (const text of ai.chat(messagesOf(prompts), options)) yield { text }
}

/** As `call`, without functions of the page. */
const stream = ({ tools: _, ...request }: BotRequest) => call(request)

/** No message opened the page, and no page charges by itself. */
const noMessage = { messageId: '', senderId: '', content: '', contentType: 'text/plain' }

put(window, 'Poe', {
  sendUserMessage,
  getTriggerMessage: async () => ({ ...noMessage, status: 'complete', attachments: [] }),
  captureCost: async () => ({ success: false }),
  registerHandler: (name: unknown, handler: Handler): (() => void) => {
    handlers.set(textOf(name), handler)
    return () => void handlers.delete(textOf(name))
  },
  APIError,
  call,
  stream,
  createTool: <Given>(tool: Given): Given => tool,
})
