import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import { asString, isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import { TokenCount } from '../models/tokens.ts'
import { createUsage, type Usage } from '../models/usage.ts'
import { type ClientEvent, transcriptionOf } from './client-events.ts'
import type { Meter } from './meter.ts'

interface SessionMeters {
  responses: Meter
  /** Creates the meter of a transcription model. Throws where it has no price. */
  createTranscriptions(model: unknown): Meter
  /** Names of the model that the client may use. */
  names: string[]
}

const idCharsMax = 200
const transcribed = 'conversation.item.input_audio_transcription.completed'
const notTranscribed = 'conversation.item.input_audio_transcription.failed'

/** The billed work of a session. It holds before work can begin, and settles by its events. */
export class SessionWork {
  private readonly estimate = new SessionEstimate()
  private transcriptions: Meter | undefined
  private isTranscribing = false

  constructor(private readonly meters: SessionMeters) {}

  get responseIds(): string[] {
    return this.meters.responses.runningIds
  }

  get isRunning(): boolean {
    return this.responseIds.length + (this.transcriptions?.runningIds.length ?? 0) > 0
  }

  /** Opens the hold of the next response, unless one runs. Throws the errors of holds. */
  async ensure(): Promise<void> {
    if (this.responseIds.length === 0) await this.meters.responses.ensure()
  }

  /** Counts an event that the upstream gets. */
  addInput(event: ClientEvent): void {
    this.estimate.addInput(event)
  }

  /**
   * Opens the hold of the first transcription before one can begin, and gives the settings of a
   * session the name of the upstream for its model.
   */
  async setTranscription(session: unknown): Promise<void> {
    const settings = transcriptionOf(session)
    if (!settings) return
    const meter = this.meters.createTranscriptions(settings.model)
    const { model, offer } = meter.candidate
    if (this.transcriptions && this.transcriptions.candidate.model !== model) {
      throw invalidField('session', 'The transcription model of a session cannot change.')
    }
    settings.model = offer.model
    if (this.transcriptions) return
    await meter.ensure()
    this.transcriptions = meter
  }

  /** Begins and settles work by an event of the upstream. Returns the event for the client. */
  async accept(event: Json): Promise<Json | undefined> {
    const { type, delta, item_id: item, session } = event
    if (type === 'response.done') return this.endResponse(event)
    // The limits are those of the operator's account.
    if (type === 'rate_limits.updated') return undefined
    if (type === 'response.created') {
      await this.meters.responses.begin(readId(recordOf(event.response).id))
    } else if (type === 'input_audio_buffer.committed') {
      if (this.isTranscribing) await this.transcriptions?.begin(readId(item))
    } else if (type === transcribed || type === notTranscribed) await this.endTranscription(event)
    else if (typeof delta === 'string') this.estimate.addDelta(String(type), delta)
    return isRecord(session) ? { ...event, session: await this.readSession(session) } : event
  }

  /** Settles what still runs by its estimate, and releases the open holds. */
  async close(): Promise<void> {
    await this.meters.responses.close(() => this.estimate.response())
    await this.transcriptions?.close(() => this.estimate.transcription())
  }

  private async readSession(session: Json): Promise<Json> {
    await this.setTranscription(session)
    this.isTranscribing = isRecord(transcriptionOf(session))
    return { ...session, ...('model' in session && { model: this.meters.names[0] }) }
  }

  private async endResponse(event: Json): Promise<Json> {
    const response = recordOf(event.response)
    const { id, usage, status } = response
    const end = status === 'failed' ? status : status === 'cancelled' ? 'interrupted' : 'completed'
    const report = { usage, end, estimate: this.estimate.response() } as const
    const charge = await this.meters.responses.settle(readId(id), report)
    this.estimate.reset(usage)
    return { ...event, response: withCost(response, charge) }
  }

  private async endTranscription({ type, item_id: item, usage, transcript }: Json): Promise<void> {
    const estimate = this.estimate.transcription(asString(transcript))
    const end = type === transcribed ? 'completed' : 'failed'
    await this.transcriptions?.settle(readId(item), { usage, end, estimate })
    await this.transcriptions?.ensure()
  }
}

const withCost = (response: Json, charge: NanoUsd): Json =>
  isRecord(response.usage)
    ? { ...response, usage: { ...response.usage, cost: toUsd(charge) } }
    : response

/** Returns the id of a piece of work. Throws `session_broken` without one. */
function readId(id: unknown): string {
  if (typeof id === 'string' && id !== '' && id.length <= idCharsMax) return id
  throw new ApiError('session_broken')
}

/** Bytes of a second of 16-bit audio at 24 kHz, OpenAI's default, and its characters in base64. */
const charsPerSecond = (48_000 * 4) / 3
/** OpenAI counts so many tokens for a second of audio. */
const inputTokensPerSecond = 10
const outputTokensPerSecond = 20

/** Counts what a session carried, for work whose upstream reports no usage. */
class SessionEstimate {
  /** Tokens of the conversation at the last usage. */
  private context = 0
  private readonly input = { text: new TokenCount(), audioChars: 0 }
  private output = { text: new TokenCount(), audioChars: 0 }
  private speechChars = 0

  /** Adds an event of the client. */
  addInput(event: Record<string, unknown>): void {
    const { type, audio, ...rest } = event
    if (type === 'input_audio_buffer.append' && typeof audio === 'string') {
      this.input.audioChars += audio.length
      this.speechChars += audio.length
      return
    }
    const parts = itemsOf(recordOf(rest.item).content).map(recordOf)
    const spoken = parts.flatMap(({ audio: data }) => (typeof data === 'string' ? [data] : []))
    for (const data of spoken) this.input.audioChars += data.length
    if (spoken.length === 0) this.input.text.add(JSON.stringify(rest))
  }

  /** Adds a part of the running response. */
  addDelta(type: string, delta: string): void {
    if (/audio\.delta$/.test(type)) this.output.audioChars += delta.length
    else if (!type.includes('input_audio')) this.output.text.add(delta)
  }

  /** Takes a reported usage as the size of the conversation. */
  reset(usage: unknown): void {
    const { total_tokens: total } = recordOf(usage)
    if (typeof total === 'number' && Number.isFinite(total)) this.context = Math.max(0, total)
    this.input.text = new TokenCount()
    this.input.audioChars = 0
    this.output = { text: new TokenCount(), audioChars: 0 }
  }

  /** Returns the usage of the running response so far. */
  response(): Usage {
    const audio = Math.ceil(secondsOf(this.input.audioChars) * inputTokensPerSecond)
    const audioCompletion = Math.ceil(secondsOf(this.output.audioChars) * outputTokensPerSecond)
    return createUsage({
      prompt: Math.ceil(this.context) + this.input.text.tokens + audio,
      audio,
      completion: this.output.text.tokens + audioCompletion,
      audioCompletion,
    })
  }

  /** Returns the usage of a transcription of the audio since the last one. */
  transcription(text = ''): Usage {
    const seconds = secondsOf(this.speechChars)
    this.speechChars = 0
    const count = new TokenCount()
    count.add(text)
    const prompt = Math.ceil(seconds * inputTokensPerSecond)
    return createUsage({ seconds, prompt, audio: prompt, completion: count.tokens })
  }
}

const secondsOf = (chars: number): number => chars / charsPerSecond
