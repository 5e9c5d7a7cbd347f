import type { Content } from '../../kernel/http/outcome.ts'
import { eventBytesMax } from '../../kernel/limits.ts'
import { asString, isRecord, type Json, parseRecord } from '../../kernel/schema.ts'
import {
  bytesOf,
  encodeEvent,
  encodeNamedEvents,
  eventOf,
  EventReader,
  eventStream,
  type StreamEvent,
} from '../events.ts'
import type { Usage } from '../models/usage.ts'
import type { MediaCall } from '../paid/media.ts'
import type { StreamOutput } from '../paid/serve-call.ts'
import { failureOfErrorBody, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { ByteRelay, type ByteSource, openSource } from './byte-relay.ts'

/** The end of a stream whose upstream failed (document 2, section 6). */
const streamError = {
  error: {
    message:
      'The provider failed in the middle of the response. The audio and the text so far were charged.',
    type: 'api_error',
    param: null,
    code: 'upstream_stream_error',
  },
}

/** Converts an event of OpenAI to that of another API; undefined for one that stays as it is. */
export type ConvertEvent = (event: Json) => Json | undefined

const noConversion: ConvertEvent = () => undefined

/** Returns a whole transcription as the events of a stream. */
export function toTranscriptEvents(text: string, usage: Json, convert = noConversion): Content {
  const encode = (event: Json) => {
    const converted = convert(event)
    return converted ? encodeNamedEvents([converted]) : encodeEvent(event)
  }
  return eventStream(
    new Blob([
      encode({ type: 'transcript.text.delta', delta: text }),
      encode({ type: 'transcript.text.done', text, usage }),
    ]).stream(),
  )
}

/**
 * Relays the events of an upstream's transcription. `usageOf` counts what was carried, with the
 * usage that the upstream reports.
 */
export async function streamTranscription(
  response: Response,
  call: MediaCall,
  usageOf: (response: { text: string } & Json) => Usage,
  convert = noConversion,
): Promise<StreamOutput | UpstreamFailure> {
  const source = await openSource({ response }, call.deadlines)
  if (!('first' in source)) return source
  const events = new TranscriptSource(source, convert)
  if (events.firstError) {
    void source.close()
    return failureOfErrorBody(events.firstError)
  }
  return {
    start({ settled }) {
      const relay = new ByteRelay(events, call, settled)
      const ended = relay.ended.then((end) => ({
        usage: usageOf({ text: events.text, usage: events.usage }),
        end: end === 'completed' && !events.isDone ? 'failed' : end,
      }))
      return { response: eventStream(relay.body()), ended }
    },
  }
}

/** The events of a transcription, read in passing. After an error it ends with the gateway's. */
class TranscriptSource implements ByteSource {
  readonly first: Uint8Array
  text = ''
  usage: unknown
  isDone = false
  firstError: Json | undefined
  private readonly reader = new EventReader(eventBytesMax)
  private isOver = false

  constructor(
    private readonly source: ByteSource,
    private readonly convert: ConvertEvent,
  ) {
    this.first = this.read(source.first)
    if (this.text !== '' || this.isDone) this.firstError = undefined
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.isOver) return undefined
    const chunk = await this.source.next().catch(() => undefined)
    if (chunk) return this.read(chunk)
    this.isOver = true
    return this.isDone ? undefined : encodeEvent(streamError)
  }

  close(): Promise<unknown> {
    return this.source.close()
  }

  private read(chunk: Uint8Array): Uint8Array {
    const passed: StreamEvent[] = []
    for (const event of this.reader.push(chunk)) {
      const sent = parseRecord(event.data ?? '') ?? {}
      const error = this.readEvent(sent)
      if (!error) {
        const converted = this.convert(sent)
        passed.push(converted ? eventOf(encodeNamedEvents([converted])) : event)
        continue
      }
      // The upstream's own words may contain its key.
      this.firstError ??= error
      this.isOver = true
      void this.source.close()
      return Buffer.concat([bytesOf(passed), encodeEvent(streamError)])
    }
    return bytesOf(passed)
  }

  private readEvent({ type, delta, text, usage, error }: Json): Json | undefined {
    if (isRecord(error)) return error
    if (type === 'error') return { message: 'The upstream reported an error.' }
    if (type === 'transcript.text.delta') this.text += asString(delta)
    if (type === 'transcript.text.done') {
      this.isDone = true
      this.text = asString(text) || this.text
      this.usage = usage
    }
    return undefined
  }
}
