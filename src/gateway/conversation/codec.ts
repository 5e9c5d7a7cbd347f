import type { FieldNames } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/schema.ts'
import type { StreamEvent } from '../events.ts'
import type { Usage } from '../models/usage.ts'
import type { ChatEvent, ChatResponse } from './chat-event.ts'
import type { Api, ChatRequest } from './chat-request.ts'

/** The upstream of a request, as far as its bytes depend on it. */
export interface Target {
  /** The model's name at this upstream. */
  model: string
  isStream: boolean
  /** Output tokens per choice at most. What is sent never exceeds it. */
  outputMax: number
  /** True if the upstream stops there by itself, so that APIs need not send the limit. */
  stopsItself: boolean
}

/** A request as an upstream gets it, below its base URL. */
export interface EncodedRequest {
  path: string
  body: Json
  headers?: Record<string, string>
}

export interface UpstreamCodec {
  api: Api
  /** Returns the headers with the API key of an upstream. Default: a Bearer token. */
  keyHeaders?(key: string): Record<string, string>
  /**
   * Encodes a chat: the client's own body where it has this API, without what would cost more than
   * the hold covers. Throws `ApiError` for what the API cannot say and may not be left out.
   */
  encode(request: ChatRequest, target: Target): EncodedRequest
  /** Returns the fields of a request that the upstream does not get. */
  ignoredFields(request: ChatRequest): string[]
  /** Reads a whole response. The last event is `done`, unless it is an `error`. */
  readWhole(response: Json): ChatEvent[]
  createReader(): StreamReader
}

/** Reads the events of one stream. */
export interface StreamReader {
  /** Returns the steps of an event; undefined for data that is not of this API. */
  read(data: string): ChatEvent[] | undefined
  /** Returns the last steps at the end of the bytes: `done` for an API without an event for it. */
  end(): ChatEvent[]
}

/** The charge of a response, for APIs that report it. */
export interface FinalUsage {
  usage: Usage
  /** USD; undefined where the client does not get it. */
  cost?: number | undefined
}

/** Writes one response to a client as a stream. */
export interface StreamWriter {
  write(events: readonly ChatEvent[]): Uint8Array
  /**
   * Returns an event of an upstream with the client's API: the same where nothing must change,
   * which saves a copy of its bytes; undefined for one to drop.
   */
  pass(own: StreamEvent, events: readonly ChatEvent[]): StreamEvent | undefined
  /** Returns the usage once the upstream has reported it, for an API that sends it by itself. */
  report?(final: FinalUsage): Uint8Array
  /** Returns what keeps the connection open. */
  beat(): Uint8Array
  /** Returns the last bytes of a response that is too long; undefined for any other. */
  cut?(): Uint8Array | undefined
  /** Runs when the client has left. */
  leave?(): void
  /**
   * Returns the last bytes of a whole response, also after events that were passed. A promise for
   * an API that stores the response first.
   */
  end(final: FinalUsage): Uint8Array | Promise<Uint8Array>
  /** Returns the error that ends the stream, in the client's envelope. `error` has OpenAI's. */
  fail(error: Json, final: FinalUsage): Uint8Array
}

/** The API of a client, for one response. */
export interface ClientCodec {
  createWriter(): StreamWriter
  encode(response: ChatResponse, final: FinalUsage): Json | Promise<Json>
  /** Returns a whole response of an upstream with the client's API. */
  pass(response: Json, final: FinalUsage): Json | Promise<Json>
}

/** A request of a client, parsed. */
export interface DecodedChat {
  request: ChatRequest
  /** The id of the model, those of its fallbacks, and the choice among upstreams, as sent. */
  model: unknown
  models: unknown
  provider: unknown
  isStream: boolean
  /** True if the client asks for a web search of this gateway. */
  search: boolean
  /** True if the response is written also where the upstream has the client's API. */
  isWritten?: boolean
  /** Fields without an effect: at upstreams that get the request as it is, and at others. */
  ignored?: { passed: string[]; written: string[] }
}

/** A chat of a client, in any of the APIs. */
export interface ChatClient {
  /** Undefined for an API that no upstream speaks. */
  api: Api | undefined
  /** The request as it was sent. */
  raw: unknown
  /** The client's names of fields, by those of OpenAI's chat. */
  names: FieldNames
  /** Parses the request. Throws `bad_request` and others. */
  open(): DecodedChat & {
    /** Returns the codec of the response; `model` is the id that the client knows it by. */
    codec(model: string, upstream: string): ClientCodec
  }
}
