import { isRecord, type Json, recordOf, toText } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import { fieldsOf, listOf } from './fields.ts'

const invalidContents = (problem: string) => invalidField('contents', problem)

/**
 * Fields of parts by role. The chat has the same content. Others are ignored: they may raise the
 * cost of media above the hold, such as mediaResolution.
 */
export const partFields = {
  model: new Set(['text', 'thought', 'thoughtSignature', 'functionCall']),
  user: new Set(['text', 'inlineData', 'fileData', 'functionResponse']),
}

const knownPartFields = partFields.model.union(partFields.user)

/** Returns the names of ignored fields of parts, such as "contents.mediaResolution". */
export function ignoredPartFields(contents: unknown): string[] {
  const names = contentsOf(contents).flatMap((content) => partsOf(content).flatMap(Object.keys))
  return [...new Set(names)]
    .filter((name) => !knownPartFields.has(name))
    .map((name) => `contents.${name}`)
}

/** A function call of the conversation that has no response yet. */
interface OpenCall {
  id: string
  name: string
}

/**
 * Converts `contents` and `systemInstruction` of Google's Gemini API to chat messages. A function
 * response belongs to the call with its id, else to the first open call of its name. Throws
 * `bad_request`.
 */
export function readContents(contents: unknown, systemInstruction: unknown): Json[] {
  const system = textsOf(partsOf(systemInstruction)).join('\n\n')
  const list = contentsOf(contents)
  const open: OpenCall[] = []
  let calls = 0
  const messages = list.flatMap((content: unknown) => {
    const { role = 'user' } = fieldsOf(content)
    const parts = partsOf(content)
    if (role === 'model') {
      const message = readModelTurn(parts, () => `call_${calls++}`)
      open.push(...message.calls)
      return message.messages
    }
    if (role === 'user' || role === 'function') return readUserTurn(parts, open)
    throw invalidContents('The role of a content must be user or model.')
  })
  return system === '' ? messages : [{ role: 'system', content: system }, ...messages]
}

/** Returns the contents of a list, or of a text. Throws `bad_request`. */
export function contentsOf(contents: unknown): unknown[] {
  const list = typeof contents === 'string' ? [{ parts: [{ text: contents }] }] : contents
  if (Array.isArray(list) && list.length > 0) return list
  throw invalidContents('Send "contents": an array with at least one content.')
}

/** Returns the parts of a content, of a list of parts or of a text. */
export function partsOf(content: unknown): Json[] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ text: content }]
  if (Array.isArray(content)) return listOf(content, 'contents')
  if (!isRecord(content)) throw invalidContents('A content must be an object with parts.')
  return listOf(content.parts, 'contents')
}

const textsOf = (parts: Json[]): string[] =>
  parts.flatMap(({ text, thought }) =>
    typeof text === 'string' && thought !== true && text !== '' ? [text] : [],
  )

function readModelTurn(parts: Json[], newId: () => string) {
  const calls = parts.flatMap((part) => {
    if (part.functionCall === undefined) return []
    const { id, name, args } = fieldsOf(part.functionCall)
    if (typeof name !== 'string') throw invalidContents('A functionCall needs a name.')
    const callId = typeof id === 'string' && id !== '' ? id : newId()
    const google = { thought_signature: part.thoughtSignature }
    const call = {
      id: callId,
      type: 'function',
      function: { name, arguments: JSON.stringify(args ?? {}) },
      ...(typeof part.thoughtSignature === 'string' && { extra_content: { google } }),
    }
    return [{ id: callId, name, call }]
  })
  const signed = parts.flatMap(({ text, thought, thoughtSignature: signature }) =>
    thought === true && typeof signature === 'string'
      ? [{ type: 'reasoning.text', text, signature }]
      : [],
  )
  const text = textsOf(parts).join('')
  if (text === '' && calls.length === 0 && signed.length === 0) return { calls: [], messages: [] }
  const message = {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(signed.length > 0 && { reasoning_details: signed }),
    ...(calls.length > 0 && { tool_calls: calls.map(({ call }) => call) }),
  }
  return { calls, messages: [message] }
}

function readUserTurn(parts: Json[], open: OpenCall[]): Json[] {
  const isResult = ({ functionResponse }: Json): boolean => functionResponse !== undefined
  const results = parts.filter(isResult).map((part) => readFunctionResponse(part, open))
  const messages = results.map(({ message }) => message)
  // Chats take only text in tool messages, so media of a result follow in a user message.
  const media = results.flatMap((result) => result.media)
  const own = [...media, ...parts.filter((part) => !isResult(part)).flatMap(readPart)]
  if (own.length === 0) return messages
  const texts = own.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const content = texts.length === own.length ? texts.join('\n\n') : own
  return [...messages, { role: 'user', content }]
}

function readFunctionResponse(part: Json, open: OpenCall[]) {
  const { id, name, response, parts } = fieldsOf(part.functionResponse)
  const byId = open.findIndex((call) => call.id === id)
  const at = byId >= 0 ? byId : open.findIndex((call) => call.name === name)
  const [call] = at < 0 ? [] : open.splice(at, 1)
  if (!call) {
    throw invalidContents('A functionResponse needs the id or the name of an earlier functionCall.')
  }
  const content = JSON.stringify(response ?? {})
  return {
    message: { role: 'tool', tool_call_id: call.id, content },
    media: listOf(parts, 'contents').flatMap(readPart),
  }
}

/** Converts a part of a user's content to content parts of a chat. */
function readPart(part: Json): Json[] {
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

function readInline({ mimeType, data, displayName }: Json): Json {
  if (typeof mimeType !== 'string' || typeof data !== 'string') {
    throw invalidContents('inlineData needs the strings mimeType and data.')
  }
  const [type = ''] = mimeType.toLowerCase().split(';')
  const url = `data:${type};base64,${data}`
  const filename = typeof displayName === 'string' ? displayName : 'file'
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  if (type.startsWith('audio/')) {
    const format = type.slice('audio/'.length).replace('mpeg', 'mp3').replace(/^x-/, '')
    return { type: 'input_audio', input_audio: { data, format } }
  }
  if (type.startsWith('text/')) {
    return { type: 'text', text: Buffer.from(data, 'base64').toString('utf8') }
  }
  return { type: 'file', file: { filename, file_data: url } }
}

/** Reads a file by its address, or by the id of an upload to this gateway. */
function readFile({ fileUri, mimeType }: Json): Json {
  if (typeof fileUri !== 'string') throw invalidContents('fileData needs a fileUri.')
  const isImage = toText(mimeType).startsWith('image/')
  if (!URL.canParse(fileUri)) {
    const file_id = fileUri.replace(/^files\//, '')
    return isImage ? { type: 'image_url', file_id } : { type: 'file', file: { file_id } }
  }
  if (isImage) return { type: 'image_url', image_url: { url: fileUri } }
  throw invalidContents('A fileUri must be an image, or the id of an uploaded file.')
}

/** Returns the whole text of a content, for an embedding. Throws `bad_request`. */
export function textOfContent(content: unknown): string {
  const parts = partsOf(content)
  const texts = textsOf(parts)
  if (texts.length === parts.length && texts.length > 0) return texts.join('\n')
  throw invalidField('content', 'content must have parts with text.')
}

/** Returns the body that a token count or a generation has in common. */
export const innerRequest = (raw: unknown): Json => {
  const body = fieldsOf(raw)
  return isRecord(body.generateContentRequest)
    ? fieldsOf(body.generateContentRequest)
    : recordOf(body)
}
