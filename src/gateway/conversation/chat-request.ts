import type { Json } from '../../kernel/schema.ts'

/**
 * A chat as the gateway knows it: the superset of what its APIs can express. The codec of each API
 * converts between this and the bytes of clients and upstreams.
 */

/** The APIs of chats. The codec of each adds its name. */
export interface Apis {
  /** OpenAI's, in which the gateway measures requests. */
  chat: true
}
export type Api = keyof Apis

/** A request of a client to a model. */
export interface ChatRequest {
  messages: Message[]
  tools: Tool[]
  toolChoice?: ToolChoice
  /** True if the model may call one tool at a time only. */
  isSerial?: boolean
  /** Output tokens per choice at most, as the client asked. */
  outputMax?: number
  /** The number of completions, 1 or more. */
  choices: number
  sampling: Sampling
  /** Texts that end the output. */
  stop: string[]
  reasoning?: Reasoning
  format?: OutputFormat
  /** Alternatives per token whose probabilities the client wants, 0 or more. */
  logprobs?: number
  /** True if the client asks for a cache of the whole prompt. */
  isCached?: boolean
  /** Further fields of OpenAI's chat, which upstreams of that API may know. */
  extra: Json
  /**
   * The request as the client sent it, for upstreams of the same API. Undefined once the gateway
   * changed the conversation: then the codec writes it anew.
   */
  raw?: RawRequest
}

export interface RawRequest {
  api: Api
  body: Json
  /** Headers of the client that belong to the API, such as its version. */
  headers?: Record<string, string>
}

export interface Sampling {
  temperature?: number
  topP?: number
  topK?: number
  minP?: number
  seed?: number
  presencePenalty?: number
  frequencyPenalty?: number
}

/** The amount of thinking: an effort, a budget in tokens, or both. */
export interface Reasoning {
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`; a word that APIs may extend. */
  effort?: string
  budget?: number
  /** The part of the thought that the client reads: OpenAI's `auto`, `concise` or `detailed`. */
  summary?: string
}

export type OutputFormat =
  | { type: 'object' }
  | { type: 'schema'; schema: Json; name?: string; description?: string; isStrict?: boolean }

/** `names`: the model may call only these tools. */
export type ToolChoice =
  'auto' | 'none' | 'required' | { mode: 'auto' | 'required'; names: string[] }

/** A function that the client runs. */
export interface Tool {
  name: string
  description?: string
  /** The JSON Schema of its arguments; of a custom tool, the format of its text. */
  parameters?: Json
  isStrict?: boolean
  /** True for a tool that takes text instead of JSON (OpenAI's type `custom`). */
  isCustom?: boolean
  isCached?: boolean
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

export interface SystemMessage {
  role: 'system' | 'developer'
  content: TextPart[]
  /** Fields that only OpenAI's chat has, such as `name`. */
  extra?: Json
}

export interface UserMessage {
  role: 'user'
  content: (TextPart | MediaPart)[]
  extra?: Json
}

export interface AssistantMessage {
  role: 'assistant'
  /** In the order in which the model wrote them. */
  content: (TextPart | ThinkingPart | CallPart | MediaPart)[]
  extra?: Json
}

/** The result of one tool call. */
export interface ToolMessage {
  role: 'tool'
  callId: string
  content: (TextPart | MediaPart)[]
  isError?: boolean
  isCached?: boolean
  extra?: Json
}

export type Part = TextPart | MediaPart | ThinkingPart | CallPart

export interface TextPart {
  type: 'text'
  text: string
  /** True for the words of a model that declined. */
  isDeclined?: boolean
  /** The prompt up to here may be cached (Anthropic's `cache_control`). */
  isCached?: boolean
}

export interface MediaPart {
  type: 'image' | 'audio' | 'video' | 'file'
  source: MediaSource
  filename?: string
  /** OpenAI's `detail` of an image. */
  detail?: string
  isCached?: boolean
  /** Further fields that only OpenAI's chat has. */
  extra?: Json
}

/** `data` is base64 without the prefix of a data: URL. `fileId` names an upload of this server. */
export type MediaSource = { data: string; mediaType: string } | { url: string } | { fileId: string }

/** A thought of a model. Some models need theirs back to go on after a tool call. */
export interface ThinkingPart {
  type: 'thinking'
  /** Empty where the API hides it. */
  text: string
  /** Proves to the model that it wrote the text; or the whole thought, encrypted. */
  signature?: string
  /** True if the signature is the whole thought, encrypted. */
  isEncrypted?: boolean
  /** The API of the model that signed it. Others do not get the signature. */
  origin?: string
  /** OpenAI's id of the item. */
  id?: string
}

export interface CallPart {
  type: 'call'
  id: string
  name: string
  /** JSON of an object; of a custom tool, its text. */
  arguments: string
  isCustom?: boolean
  /** Google's signature of the thought that led to the call. */
  signature?: string
  isCached?: boolean
}
