import type { AppContext } from '../../kernel/context.ts'
import { valueOf } from '../../kernel/http/outcome.ts'
import { fallbackModelsMax } from '../../kernel/limits.ts'
import { formatDecimal, fromUsd, zero } from '../../kernel/money.ts'
import { asString, recordOf } from '../../kernel/schema.ts'
import type { Transcript } from '../../kernel/state/responses.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import * as files from '../files/files.ts'
import type { Model } from '../models/catalog.ts'
import { maxCost } from '../models/charge.ts'
import { measureAudio } from './transcription-request.ts'
import { isTranscriptionModel, transcribe } from './transcriptions.ts'

/** Transcribes an audio file, and stores the text for later requests. */
export type Transcribe = (file: files.StoredFile) => Promise<Transcript>

/**
 * Creates the transcriber of audio files in a chat; undefined without a transcription model. It
 * uses the cheapest one. The first request that needs a file pays, with a history row of its own;
 * later ones share the result.
 */
export function createTranscriber(
  ctx: AppContext,
  spender: Spender,
  call: Call,
): Transcribe | undefined {
  const models = listTranscriptionModels(ctx)
  if (models.length === 0) return undefined
  return (file) =>
    ctx.state.transcriptions.wait(file.id, call.signal, (signal) =>
      transcribeFile(ctx, spender, { file, models, call: { ...call, signal } }),
    )
}

/** Lists transcription models, the cheapest per minute first. */
function listTranscriptionModels({ catalog }: AppContext): string[] {
  const minute = { inputTokensMax: 3_000, outputTokensMax: 1_000, seconds: 60 }
  const cost = ({ price }: Model): number => (price ? Number(maxCost(price, minute)) : Infinity)
  const models = catalog.list(['audio']).filter(isTranscriptionModel)
  const sorted = models.toSorted((a, b) => cost(a) - cost(b))
  return sorted.slice(0, fallbackModelsMax).map(({ id }) => id)
}

async function transcribeFile(
  ctx: AppContext,
  spender: Spender,
  { file, models, call }: { file: files.StoredFile; models: string[]; call: Call },
): Promise<Transcript> {
  // Another chat may have stored a transcript meanwhile.
  const current = await files.get(ctx, file.account, file.id)
  if (current.words !== null) {
    return { words: (await files.readWords(ctx, current)) ?? '', cost: zero }
  }
  const bytes = await files.readBytes(ctx, file)
  const form = new FormData()
  form.append('response_format', 'json')
  // Some upstreams detect the format by the file extension.
  const name = `sound.${file.type.replace('audio/', '').replace('mpeg', 'mp3')}`
  form.append('file', new File([bytes], name, { type: file.type }))
  const input = {
    path: '/audio/transcriptions' as const,
    isStream: false,
    models,
    form,
    format: 'json' as const,
    bytes: file.bytes,
    textBytes: 0,
    fingerprint: { file: file.sha256 },
    ...(await measureAudio(bytes)),
  }
  // The Idempotency-Key belongs to the chat, not to its transcriptions.
  const outcome = await transcribe(
    ctx,
    spender,
    input,
    { ...call, idempotencyKey: undefined },
    { part: file.id },
  )
  const { text, cost } = recordOf(valueOf(outcome))
  const words = asString(text).trim().toWellFormed()
  await files.saveTranscript(ctx, file, words)
  return { words, cost: fromUsd(formatDecimal(Number(cost))) ?? zero }
}
