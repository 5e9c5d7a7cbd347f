import { eventBytesMax } from '../../kernel/limits.ts'
import { type Json, parseRecord } from '../../kernel/schema.ts'
import type { ChatEvent } from '../conversation/chat-event.ts'
import type { UpstreamCodec } from '../conversation/codec.ts'
import { EventReader } from '../events.ts'
import type { CallDeadlines } from '../paid/deadlines.ts'
import { readBoundedBytes } from '../paid/response-body.ts'
import {
  failureOfErrorBody,
  failureOfRejection,
  interruptionOf,
  isFailure,
  noContent,
  unreadable,
  type UpstreamFailure,
} from '../paid/upstream-failure.ts'
import type { SentChat } from '../providers/upstream.ts'

/** A whole response: its steps, and the response itself where it came as one JSON object. */
export interface WholeResponse {
  events: ChatEvent[]
  json?: Json
}

/** Reads the response of an upstream to a chat, bounded. */
export async function readWhole(
  sent: SentChat,
  deadlines: CallDeadlines,
): Promise<WholeResponse | UpstreamFailure> {
  if ('rejected' in sent) return failureOfRejection(sent.rejected)
  const read =
    'response' in sent
      ? await readResponse(sent.response, sent.codec, deadlines)
      : await readSteps(sent.steps, deadlines)
  if (isFailure(read)) return read
  const failed = read.events.find((event) => event.type === 'error')
  return failed ? failureOfErrorBody(failed.error) : read
}

async function readSteps(
  steps: AsyncIterable<ChatEvent[]>,
  deadlines: CallDeadlines,
): Promise<WholeResponse | UpstreamFailure> {
  const events: ChatEvent[] = []
  for await (const next of steps) events.push(...next)
  return deadlines.cause ? interruptionOf(deadlines) : { events }
}

const decoder = new TextDecoder()

/** Reads a response. A stream that was not asked for is read to its end. */
async function readResponse(
  response: Response,
  codec: UpstreamCodec,
  deadlines: CallDeadlines,
): Promise<WholeResponse | UpstreamFailure> {
  const bytes = await readBoundedBytes(response, deadlines)
  if (!bytes) return interruptionOf(deadlines)
  if (bytes.byteLength === 0) return noContent
  const json = parseRecord(decoder.decode(bytes))
  if (json) return { events: codec.readWhole(json), json }
  return readStream(bytes, codec)
}

function readStream(bytes: Uint8Array, codec: UpstreamCodec): WholeResponse | UpstreamFailure {
  const parser = new EventReader(eventBytesMax)
  const reader = codec.createReader()
  const events: ChatEvent[] = []
  const last = [...parser.push(bytes), parser.end()]
  for (const event of last) {
    if (event?.data === undefined) continue
    const steps = reader.read(event.data)
    if (!steps) return unreadable
    events.push(...steps)
  }
  events.push(...reader.end())
  const isOver = events.some(({ type }) => type === 'done' || type === 'error')
  return isOver || areEnded(events) ? { events } : unreadable
}

/** Returns whether each choice ended. The bytes are whole, so that an output that ended is, too. */
function areEnded(events: readonly ChatEvent[]): boolean {
  const choices = new Set(events.flatMap((event) => ('choice' in event ? [event.choice] : [])))
  for (const event of events) if (event.type === 'end') choices.delete(event.choice)
  return choices.size === 0 && events.some(({ type }) => type === 'end')
}
