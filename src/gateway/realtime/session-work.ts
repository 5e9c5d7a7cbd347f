import { ApiError } from '../../kernel/errors.ts'
import { type NanoUsd, toUsd } from '../../kernel/money.ts'
import {
  asString,
  isRecord,
  itemsOf,
  type Json,
  parseRecord,
  recordOf,
  toText,
} from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import type { Model } from '../models/catalog.ts'
import { TokenCount } from '../models/tokens.ts'
import { createUsage, type Usage } from '../models/usage.ts'
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

/** An event of a client, checked, with its changes for the upstream. */
export type ClientEvent = Json & { type: string }

/** Events that an upstream gets. None of them is billed, except for what a response reports. */
const eventTypes = [
  'session.update',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'conversation.item.create',
  'conversation.item.retrieve',
  'conversation.item.truncate',
  'conversation.item.delete',
  'response.create',
  'response.cancel',
]

/** Fields of a session and of a response that the price of a model covers. */
const sessionFields = new Set(
  [
    'type model instructions voice audio output_modalities modalities input_audio_format',
    'output_audio_format input_audio_transcription input_audio_noise_reduction turn_detection tools',
    'tool_choice temperature max_output_tokens max_response_output_tokens speed tracing truncation',
    'include parallel_tool_calls reasoning metadata conversation input',
  ].flatMap((names) => names.split(' ')),
)

const contentTypes = ['input_text', 'input_audio', 'output_text', 'output_audio', 'text', 'audio']
const itemTypes = ['message', 'function_call', 'function_call_output', 'item_reference']

/** Parses an event of a client. Throws `bad_request` for one that the price may not cover. */
export function readClientEvent(text: string, model: Model, names: string[]): ClientEvent {
  const event = parseRecord(text)
  const type = event?.type
  if (!event || typeof type !== 'string') {
    throw invalidField('type', 'Send a JSON object with a "type".')
  }
  if (!eventTypes.includes(type)) {
    const known = eventTypes.join(', ')
    throw invalidField('type', `This server has no event ${type.slice(0, 100)}. Send ${known}.`)
  }
  if (type.startsWith('input_audio_buffer.')) requireAudio(model)
  if (type === 'conversation.item.create') checkItem(event.item, model)
  if (type === 'session.update') {
    const session = checkOptions('session', event.session, model, names)
    const { model: _, ...rest } = session
    return { ...event, type, session: rest }
  }
  if (type === 'response.create' && event.response !== undefined) {
    const { input } = checkOptions('response', event.response, model, names)
    for (const item of itemsOf(input)) checkItem(item, model)
  }
  return { ...event, type }
}

function requireAudio({ id, inputs }: Model): void {
  if (!inputs.includes('audio')) {
    throw invalidField('type', `${id} takes no audio. Use a model with the input "audio".`)
  }
}

function checkItem(item: unknown, model: Model): void {
  const { type, content } = recordOf(item)
  if (type !== undefined && !itemTypes.includes(toText(type))) {
    throw invalidField('item', `An item must be one of ${itemTypes.join(', ')}.`)
  }
  for (const part of itemsOf(content)) {
    const kind = toText(recordOf(part).type)
    if (!contentTypes.includes(kind)) {
      const known = contentTypes.join(', ')
      throw invalidField('item', `A content part must be one of ${known}, not ${kind}.`)
    }
    if (kind.endsWith('audio')) requireAudio(model)
  }
}

/** Checks the options of a session or a response. Throws `bad_request`. */
function checkOptions(name: string, options: unknown, model: Model, names: string[]): Json {
  if (!isRecord(options)) throw invalidField(name, `${name} must be an object.`)
  const unknown = Object.keys(options).find((field) => !sessionFields.has(field))
  if (unknown !== undefined) {
    const problem = `${name}.${unknown.slice(0, 100)} is not supported here. Remove it.`
    throw invalidField(name, problem)
  }
  const { type, model: named, tools, output_modalities, modalities } = options
  if (type !== undefined && type !== 'realtime') {
    throw invalidField(`${name}.type`, 'Only sessions of the type realtime are served.')
  }
  if (named !== undefined && !names.includes(toText(named))) {
    throw invalidField(`${name}.model`, 'The model of a session cannot change. Open another one.')
  }
  if (itemsOf(tools).some((tool) => recordOf(tool).type !== 'function')) {
    throw invalidField(`${name}.tools`, 'Tools must have the type function.')
  }
  const kinds = [...itemsOf(output_modalities), ...itemsOf(modalities)]
  const missing = kinds.find((kind) => !model.outputs.includes(toText(kind)))
  if (missing !== undefined) {
    const known = model.outputs.join(', ')
    throw invalidField(`${name}.output_modalities`, `${model.id} has only the output ${known}.`)
  }
  return options
}

/** Returns the settings of the transcription of the input, in either form of OpenAI's API. */
function transcriptionOf(session: unknown): Json | null | undefined {
  const { audio, input_audio_transcription: older } = recordOf(session)
  const settings = recordOf(recordOf(audio).input).transcription ?? older
  return isRecord(settings) || settings === null ? settings : undefined
}
