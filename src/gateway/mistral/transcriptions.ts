import type { AppContext } from '../../kernel/context.ts'
import { Success, withHeaders } from '../../kernel/http/outcome.ts'
import { asString, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { parseTranscription, readTranscriptionForm } from '../audio/transcription-request.ts'
import { mustBeWhole, transcribe, undetermined } from '../audio/transcriptions.ts'
import type { AccountId, Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { invalidField } from '../fields.ts'
import { readBytes, use } from '../files/files.ts'
import type { Form } from '../files/upload.ts'

/** Mistral's clients send a form without a file in the second type. */
const forms = /^(multipart\/form-data|application\/x-www-form-urlencoded)\b/i

/** Reads the form of a transcription. Throws `bad_request` and `too_large`. */
export const readForm = (request: Request): Promise<Form> => readTranscriptionForm(request, forms)

/**
 * Transcribes audio in the format of Mistral's API: the same call as POST /v1/audio/transcriptions
 * of OpenAI. Throws its errors.
 */
export async function createMistralTranscription(
  ctx: AppContext,
  spender: Spender,
  sent: Form,
  call: Call,
): Promise<CallOutcome> {
  const form = await convertForm(ctx, spender.account, sent)
  const isWhole = mustBeWhole(ctx, call)
  const input = await parseTranscription(form, '/audio/transcriptions', isWhole)
  const [model = ''] = input.models
  const toResult = (result: Json): Json => toTranscription(result, model, input.seconds)
  const convert = (event: Json): Json | undefined => toEvent(event, toResult)
  const outcome = await transcribe(ctx, spender, input, call, { convert })
  if (!(outcome instanceof Success)) return outcome
  return withHeaders(toResult(recordOf(outcome.value)), outcome.headers)
}

/** Fields that have no equivalent here, and what to do instead. */
const unsupported: Record<string, string> = {
  file_url: 'Download the audio and send it in the field "file".',
  speaker_references: 'Speakers are not matched here. Remove speaker_references.',
}

/** Converts a form of Mistral's API to OpenAI's. Throws `bad_request` and `no_file`. */
async function convertForm(ctx: AppContext, account: AccountId, sent: Form): Promise<FormData> {
  for (const [name, problem] of Object.entries(unsupported)) {
    if (sent.has(name)) throw invalidField(name, problem)
  }
  const form = new FormData()
  sent.forEach((value, name) => {
    if (value instanceof File) form.append(name, value, value.name)
    else if (typeof value === 'string') form.append(name, value)
  })
  const id = form.get('file_id')
  if (typeof id === 'string' && !form.has('file')) {
    const file = await use(ctx, account, id)
    form.set('file', new Blob([await readBytes(ctx, file)], { type: file.type }), file.filename)
  }
  if (form.get('diarize') !== 'true') form.delete('diarize')
  const bias = takeList(form, 'context_bias')
  if (bias.length > 0) form.set('prompt', bias.join(', '))
  const granularities = takeList(form, 'timestamp_granularities')
  for (const granularity of granularities) form.append('timestamp_granularities[]', granularity)
  if (granularities.length > 0) form.set('response_format', 'verbose_json')
  form.delete('file_id')
  return form
}

/** Removes a repeated field, whose name may end with brackets, and returns its texts. */
function takeList(form: FormData, name: string): string[] {
  const names = [name, `${name}[]`]
  const values = names.flatMap((one) => form.getAll(one))
  for (const one of names) form.delete(one)
  return values.filter((value) => typeof value === 'string')
}

/** Converts a transcription of OpenAI's API. `seconds`: the length of the audio, where known. */
function toTranscription(result: Json, model: string, seconds: number | undefined): Json {
  const { text, language, segments, words, usage, cost } = result
  const reported = recordOf(usage)
  const prompt = reported.prompt_tokens ?? reported.input_tokens ?? 0
  const completion = reported.completion_tokens ?? reported.output_tokens ?? 0
  const timed = itemsOf(segments).length > 0 ? segments : words
  return {
    model,
    text,
    language: language === undetermined ? null : (language ?? null),
    segments: itemsOf(timed).map(recordOf).map(toSegment),
    usage: {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: reported.total_tokens ?? 0,
      prompt_audio_seconds: seconds === undefined ? null : Math.ceil(seconds),
      cost: cost ?? reported.cost,
    },
  }
}

const toSegment = ({ text, word, start, end, speaker }: Json): Json => ({
  type: 'transcription_segment',
  text: text ?? word,
  start: start ?? null,
  end: end ?? null,
  ...(speaker !== undefined && { speaker_id: speaker }),
})

/** Converts an event of a transcription. Others, such as an error, stay as they are. */
function toEvent(sent: Json, toResult: (result: Json) => Json): Json | undefined {
  const { type, delta } = sent
  if (type === 'transcript.text.delta') {
    return { type: 'transcription.text.delta', text: asString(delta) }
  }
  return type === 'transcript.text.done'
    ? { type: 'transcription.done', ...toResult(sent) }
    : undefined
}
