import { type Json, recordOf, toText } from '../../kernel/schema.ts'
import type {
  AssistantMessage,
  MediaPart,
  Message,
  TextPart,
  ThinkingPart,
  ToolMessage,
} from '../conversation/chat-request.ts'
import { mediaTypeOf } from '../conversation/media.ts'
import { endsThought } from '../conversation/sealed-thought.ts'
import { originalId } from '../conversation/tools.ts'
import { invalidField } from '../fields.ts'
import { contentsOf, fieldsOf, listOf, partsOf, textsOf } from './contents.ts'
import { parseSignature } from './thought-signature.ts'

const invalidContents = (problem: string) => invalidField('contents', problem)

/** A function call of the conversation that has no response yet. */
interface OpenCall {
  id: string
  name: string
}

/**
 * Decodes `contents` and `systemInstruction` as a conversation. A function response belongs to the
 * call with its id, else to the first open call of its name. Consecutive contents of the model are
 * one message: a client that keeps a stream sends one for each of its events. Throws `bad_request`.
 */
export function decodeContents(contents: unknown, systemInstruction: unknown): Message[] {
  const messages = readSystem(systemInstruction)
  const open: OpenCall[] = []
  let calls = 0
  for (const content of contentsOf(contents)) {
    const { role = 'user' } = fieldsOf(content)
    const parts = partsOf(content)
    if (role === 'model') {
      const last = messages.at(-1)
      const turn = last?.role === 'assistant' ? last.content : []
      for (const part of parts) addModelPart(turn, part, open, () => `call_${calls++}`)
      if (last?.role !== 'assistant' && turn.length > 0) {
        messages.push({ role: 'assistant', content: turn })
      }
    } else if (role === 'user' || role === 'function') {
      messages.push(...readUserTurn(parts, open))
    } else throw invalidContents('The role of a content must be user or model.')
  }
  return messages
}

/** Reads the system instruction as one text, which all APIs accept. */
function readSystem(instruction: unknown): Message[] {
  const texts = textsOf(partsOf(instruction))
  return texts.length === 0
    ? []
    : [{ role: 'system', content: [{ type: 'text', text: texts.join('\n\n') }] }]
}

type Turn = AssistantMessage['content']

/** Adds a part of the model to its turn. */
function addModelPart(turn: Turn, part: Json, open: OpenCall[], newId: () => string): void {
  const { text, thought, thoughtSignature, functionCall } = part
  const signed = typeof thoughtSignature === 'string' ? parseSignature(thoughtSignature) : undefined
  if (functionCall !== undefined) {
    for (const thought of signed?.thoughts ?? []) addThoughtOfCall(turn, thought)
    const { id, name, args } = fieldsOf(functionCall)
    if (typeof name !== 'string') throw invalidContents('A functionCall needs a name.')
    const callId = typeof id === 'string' && id !== '' ? originalId(id) : newId()
    open.push({ id: callId, name })
    const signature = signed?.own !== undefined && { signature: signed.own }
    turn.push({
      type: 'call',
      id: callId,
      name,
      arguments: JSON.stringify(args ?? {}),
      ...signature,
    })
    return
  }
  if (typeof text !== 'string') return
  if (thought === true) addThought(turn, text)
  else addText(turn, text)
  if (signed?.own !== undefined) addSignature(turn, signed.own, thought === true)
  else for (const foreign of signed?.thoughts ?? []) addForeignThought(turn, foreign)
}

function addText(turn: Turn, text: string): void {
  const last = turn.at(-1)
  if (last?.type === 'text') last.text += text
  else if (text !== '') turn.push({ type: 'text', text })
}

/** Returns the thought at the end of a turn that may go on. */
function openThought(turn: Turn): ThinkingPart | undefined {
  const last = turn.at(-1)
  return last?.type === 'thinking' && last.signature === undefined ? last : undefined
}

function addThought(turn: Turn, text: string): void {
  const last = openThought(turn)
  if (last) last.text += text
  else if (text !== '') turn.push({ type: 'thinking', text })
}

/** Adds Google's signature: to the thought that it ends, else behind the text. */
function addSignature(turn: Turn, signature: string, isThought: boolean): void {
  const seal = { signature, origin: 'gemini' } as const
  const last = isThought ? openThought(turn) : undefined
  if (last) Object.assign(last, seal)
  else turn.push({ type: 'thinking', text: '', ...seal })
}

/** Adds a thought of another API. Its text may be in the parts before. */
function addForeignThought(turn: Turn, thought: ThinkingPart): void {
  const last = thought.text === '' && endsThought(thought) ? openThought(turn) : undefined
  if (last) Object.assign(last, { ...thought, text: last.text })
  else turn.push(thought)
}

/** Adds a thought that came back with its call. The client may have sent it as a part, too. */
function addThoughtOfCall(turn: Turn, thought: ThinkingPart): void {
  const same = turn.findLast((part) => part.type === 'thinking' && part.text === thought.text)
  if (same) Object.assign(same, thought)
  else turn.push(thought)
}

function readUserTurn(parts: Json[], open: OpenCall[]): Message[] {
  const isResult = ({ functionResponse }: Json): boolean => functionResponse !== undefined
  const results = parts.filter(isResult).map((part) => readFunctionResponse(part, open))
  const content = parts.filter((part) => !isResult(part)).flatMap(readPart)
  return content.length === 0 ? results : [...results, { role: 'user', content }]
}

function readFunctionResponse(part: Json, open: OpenCall[]): ToolMessage {
  const { id, name, response, parts } = fieldsOf(part.functionResponse)
  const byId = open.findIndex((call) => call.id === originalId(toText(id)))
  const at = byId >= 0 ? byId : open.findIndex((call) => call.name === name)
  const [call] = at < 0 ? [] : open.splice(at, 1)
  if (!call) {
    throw invalidContents('A functionResponse needs the id or the name of an earlier functionCall.')
  }
  const { text, isError } = readResult(response ?? {})
  return {
    role: 'tool',
    callId: call.id,
    content: [
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
      ...listOf(parts, 'contents').flatMap(readPart),
    ],
    ...(isError && { isError }),
  }
}

/** Reads a result. Google's clients send a text as `result` and a failure as `error`. */
function readResult(response: unknown): { text: string; isError: boolean } {
  const fields = recordOf(response)
  const isError = Boolean(fields.error)
  const [only, ...others] = Object.entries(fields)
  const [name, value] = only ?? []
  const isText = others.length === 0 && (name === 'result' || (isError && name === 'error'))
  const text = isText && typeof value === 'string' ? value : JSON.stringify(response)
  return { text, isError }
}

/** Reads a part of a user's content. */
function readPart(part: Json): (TextPart | MediaPart)[] {
  const { text, thought, inlineData, fileData } = part
  if (thought === true || text === '') return []
  if (typeof text === 'string') return [{ type: 'text', text }]
  if (inlineData !== undefined) return [readInline(fieldsOf(inlineData))]
  if (fileData !== undefined) return [readFile(fieldsOf(fileData))]
  const [kind = 'part'] = Object.keys(part)
  throw invalidContents(
    `A ${kind} is not supported here. Send text, inlineData, fileData or functionResponse.`,
  )
}

const mediaKinds = ['image', 'audio', 'video'] as const

function readInline({ mimeType, data, displayName }: Json): TextPart | MediaPart {
  if (typeof mimeType !== 'string' || typeof data !== 'string') {
    throw invalidContents('inlineData needs the strings mimeType and data.')
  }
  const mediaType = mediaTypeOf(data, mimeType)
  const source = { data, mediaType }
  const type = mediaKinds.find((kind) => mediaType.startsWith(`${kind}/`))
  if (type) return { type, source }
  if (mediaType.startsWith('text/')) {
    return { type: 'text', text: Buffer.from(data, 'base64').toString('utf8') }
  }
  const filename = typeof displayName === 'string' ? displayName : 'file'
  return { type: 'file', source, filename }
}

/** Reads a file by its address, or by the id of an upload to this gateway. */
function readFile({ fileUri, mimeType }: Json): MediaPart {
  if (typeof fileUri !== 'string') throw invalidContents('fileData needs a fileUri.')
  const isImage = toText(mimeType).startsWith('image/')
  if (!URL.canParse(fileUri)) {
    const source = { fileId: fileUri.replace(/^files\//, '') }
    return { type: isImage ? 'image' : 'file', source }
  }
  if (isImage) return { type: 'image', source: { url: fileUri } }
  throw invalidContents('A fileUri must be an image, or the id of an uploaded file.')
}
