import { newId, sha256 } from '../../kernel/ids.ts'
import { asString, isRecord, type Json, parseRecord } from '../../kernel/schema.ts'
import type { ChatEvent } from './chat-event.ts'
import type { CallPart, ChatRequest, Message, Tool, ToolChoice } from './chat-request.ts'
import type { UpstreamCodec } from './codec.ts'

/** The schema of a tool without arguments: upstreams reject an empty one. */
export const emptySchema = { type: 'object', properties: {} }

/** Reads the fields that OpenAI's functions and output formats share. */
export const readAbout = ({ name, description, strict }: Json) => ({
  ...(typeof name === 'string' && { name }),
  ...(typeof description === 'string' && { description }),
  ...(typeof strict === 'boolean' && { isStrict: strict }),
})

/** Reads a function of OpenAI. */
export const readFunction = ({ parameters, ...about }: Json): Tool => ({
  name: '',
  ...readAbout(about),
  ...(isRecord(parameters) && { parameters }),
})

/** Returns a schema of arguments with its type: upstreams reject one without. */
export const completeSchema = (schema: unknown): unknown =>
  isRecord(schema) && schema.type === undefined ? { ...emptySchema, ...schema } : schema

/** Returns the schema of a tool's arguments. */
export const schemaOf = ({ parameters = {} }: Tool): unknown => completeSchema(parameters)

/** Completes the schema of a function of OpenAI, or of a tool that has one. */
export const completeTool = (tool: Json): Json => {
  const { parameters, function: called } = tool
  const complete = completeSchema(parameters)
  if (complete !== parameters) return { ...tool, parameters: complete }
  if (!isRecord(called)) return tool
  const inner = completeTool(called)
  return inner === called ? tool : { ...tool, function: inner }
}

/** Returns the tools among which the model may choose. */
export const allowedTools = ({ tools, toolChoice }: Pick<ChatRequest, 'tools' | 'toolChoice'>) =>
  typeof toolChoice === 'object'
    ? tools.filter(({ name }) => toolChoice.names.includes(name))
    : tools

/** Returns whether the model may, must or must not call a tool. */
export const modeOf = (choice: ToolChoice = 'auto') =>
  typeof choice === 'string' ? choice : choice.mode

/** Parses the arguments of a call. A model may write some that are no JSON: then it sees them. */
export const parseArguments = (text: string): Json =>
  text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })

/** Returns the arguments of a call as an object: the text of a custom tool is its `input`. */
export const argumentsOf = ({ arguments: text, isCustom }: CallPart): Json =>
  isCustom ? { input: text } : parseArguments(text)

/** Returns the same as JSON. Upstreams reject other texts. */
export const objectText = (call: CallPart): string =>
  !call.isCustom && parseRecord(call.arguments) ? call.arguments : JSON.stringify(argumentsOf(call))

/**
 * Ids of tool calls. Anthropic takes letters, digits, "-" and "_", OpenAI 40 characters, Mistral 9
 * letters and digits. An id of another form is sent in the form that the API takes.
 */
const prefix = 'call64_'
const portable = /^[\w-]{1,40}$/
const encoded = new RegExp(`^${prefix}([\\w-]+)$`)

/** Returns an id that every client takes and sends back. `originalId` reverses it. */
export const portableId = (id: string): string =>
  portable.test(id) ? id : prefix + Buffer.from(id).toString('base64url')

/** Returns the id of the upstream that `portableId` was given. */
export function originalId(id: string): string {
  const [, text = ''] = encoded.exec(id) ?? []
  return text === '' ? id : Buffer.from(text, 'base64url').toString()
}

/** Returns the id that an upstream sent, or a new one: no two turns may have the same. */
export const callIdOf = (...sent: unknown[]): string =>
  sent.map(asString).find((id) => id !== '') ?? `call_${newId()}`

const callIdsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap(({ content }) =>
    content.flatMap((part) => (part.type === 'call' ? [part.id] : [])),
  )

/**
 * Returns a codec for the response to a request. Its calls have ids that no other call has: some
 * models number them anew in each turn, and clients know a call by its id alone.
 */
export function withUniqueCalls(
  codec: UpstreamCodec,
  { tools, messages }: ChatRequest,
): UpstreamCodec {
  if (tools.length === 0) return codec
  const earlier = callIdsIn(messages)
  return {
    ...codec,
    readWhole: (response) => renameRepeated(codec.readWhole(response), new Set(earlier)),
    createReader: () => {
      const reader = codec.createReader()
      const known = new Set(earlier)
      return {
        read: (data) => renameRepeated(reader.read(data), known),
        end: () => renameRepeated(reader.end(), known),
      }
    },
  }
}

/**
 * Returns a conversation whose calls have ids of their own, and so have their results. Anthropic
 * and OpenAI reject an id that comes twice.
 */
export function withOwnIds(messages: readonly Message[]): readonly Message[] {
  const ids = callIdsIn(messages)
  const known = new Set(ids)
  if (known.size === ids.length) return messages
  /** By the id as sent: the ids of its calls, the last number, and how many calls have a result. */
  const calls = new Map<string, { own: string[]; last: number; results: number }>()
  const ownId = (id: string): string => {
    const same = calls.get(id)
    if (!same) {
      calls.set(id, { own: [id], last: 1, results: 0 })
      return id
    }
    do same.last += 1
    while (known.has(`${id}_${same.last}`))
    const own = `${id}_${same.last}`
    same.own.push(own)
    return own
  }
  const idOfResult = (id: string): string => {
    const same = calls.get(id)
    if (!same) return id
    same.results = Math.min(same.results + 1, same.own.length)
    return same.own[same.results - 1] ?? id
  }
  return messages.map((message): Message => {
    if (message.role === 'tool') return { ...message, callId: idOfResult(message.callId) }
    if (message.role !== 'assistant') return message
    const content = message.content.map((part) =>
      part.type === 'call' ? { ...part, id: ownId(part.id) } : part,
    )
    return { ...message, content }
  })
}

/** Gives the calls among events whose ids are known new ones, and adds theirs. */
function renameRepeated<Events extends ChatEvent[] | undefined>(
  events: Events,
  known: Set<string>,
): Events {
  for (const event of events ?? []) {
    if (event.type !== 'call') continue
    if (known.has(event.id)) event.id = callIdOf()
    known.add(event.id)
  }
  return events
}

/** Returns letters and digits that stand for an id, always the same. */
export const shortId = (id: string): string =>
  BigInt(`0x${sha256(id).slice(0, 16)}`)
    .toString(36)
    .padStart(9, '0')
    .slice(-9)

/** Returns an id of at most `charsMax` characters: itself, or one that stands for it. */
export const idWithin = (id: string, charsMax: number): string =>
  id.length > charsMax ? `call_${shortId(id)}` : id

/** Returns arguments as JSON. Some clients send an object, or nothing for a tool without any. */
export function argumentsText(args: unknown): string {
  const text = isRecord(args) ? JSON.stringify(args) : asString(args)
  return /^\s*(null\s*)?$/.test(text) ? '{}' : text
}
