import { isRecord, itemsOf, type Json, parseRecord, recordOf, toText } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import type { Model } from '../models/catalog.ts'

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
export function transcriptionOf(session: unknown): Json | null | undefined {
  const { audio, input_audio_transcription: older } = recordOf(session)
  const settings = recordOf(recordOf(audio).input).transcription ?? older
  return isRecord(settings) || settings === null ? settings : undefined
}
