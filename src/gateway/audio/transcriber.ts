import type { AppContext } from '../../context.ts'
import { fromUsd, zero } from '../../core/money.ts'
import { isRecord } from '../../core/schema.ts'
import { fallbackModelsMax } from '../../limits.ts'
import type { Model } from '../../models/catalogue.ts'
import { maxCost } from '../../models/charge.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import type { TranscriberFactory } from '../chat/chat.ts'
import type { Transcript } from '../chat/uploads.ts'
import * as files from '../files/files.ts'
import { measureAudio } from './transcription-request.ts'
import { isTranscriptionModel, transcribe } from './transcriptions.ts'

/**
 * Hears uploaded sounds for chat, with the cheapest model that listens: paid once, as a
 * transcription with its own row in the history, by whoever's request needs the words first.
 */
export function createTranscriber(ctx: AppContext): TranscriberFactory {
  const running = new Map<string, SharedTranscription>()
  return (spender, call) => {
    const models = listenersOf(ctx)
    if (models.length === 0) return undefined
    return (file) => {
      const known = running.get(file.id)
      const begin = (signal: AbortSignal) =>
        listen(ctx, spender, { file, models, call: { ...call, signal } })
      const hearing = known?.isWanted ? known : new SharedTranscription(begin)
      running.set(file.id, hearing)
      return hearing
        .waitedFor(call.signal)
        .then((heard) => (hearing === known ? { ...heard, cost: zero } : heard))
        .finally(() => {
          if (running.get(file.id) === hearing) running.delete(file.id)
        })
    }
  }
}

/** A sound as it is heard, for all whose chats wait for its words; the last who leaves ends it. */
class SharedTranscription {
  private readonly gone = new AbortController()
  private readonly heard: Promise<Transcript>
  private waiting = 0

  constructor(listen: (signal: AbortSignal) => Promise<Transcript>) {
    this.heard = listen(this.gone.signal)
  }

  /** Whether somebody waits. */
  get isWanted(): boolean {
    return !this.gone.signal.aborted
  }

  /** The words, for a client that leaves with `signal`. */
  async waitedFor(signal: AbortSignal): Promise<Transcript> {
    const leave = (): void => {
      this.waiting -= 1
      if (this.waiting === 0) this.gone.abort()
    }
    this.waiting += 1
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    return this.heard.finally(() => signal.removeEventListener('abort', leave))
  }
}

/** Those that may do it, the cheapest by the minute first. */
function listenersOf({ catalogue }: AppContext): string[] {
  const minute = { inputTokensMax: 3_000, outputTokensMax: 1_000, seconds: 60 }
  const cost = ({ price }: Model): number => (price ? Number(maxCost(price, minute)) : Infinity)
  const able = catalogue.list(['audio']).filter(isTranscriptionModel)
  const sorted = able.toSorted((a, b) => cost(a) - cost(b))
  return sorted.slice(0, fallbackModelsMax).map(({ id }) => id)
}

async function listen(
  ctx: AppContext,
  spender: Spender,
  { file, models, call }: { file: files.StoredFile; models: string[]; call: Call },
): Promise<Transcript> {
  // Another chat may have had it heard since this one looked.
  const now = await files.get(ctx, file.account, file.id)
  if (now.words !== null) return { words: (await files.readWords(ctx, now)) ?? '', cost: zero }
  const bytes = await files.readBytes(ctx, file)
  const form = new FormData()
  form.append('response_format', 'json')
  // Some upstreams tell a sound by the end of its name.
  const name = `sound.${file.type.replace('audio/', '').replace('mpeg', 'mp3')}`
  form.append('file', new File([bytes], name, { type: file.type }))
  const asked = {
    models,
    form,
    format: 'json' as const,
    bytes: file.bytes,
    textBytes: 0,
    same: { file: file.sha256 },
    ...(await measureAudio(bytes)),
  }
  // An answer to the chat's own Idempotency-Key is the chat's.
  const answer = await transcribe(ctx, spender, asked, { ...call, ref: undefined }, file.id)
  const said: unknown = await answer.json()
  const words =
    isRecord(said) && typeof said.text === 'string' ? said.text.trim().toWellFormed() : ''
  await files.saveTranscript(ctx, file, words)
  return { words, cost: fromUsd(answer.headers.get('x-service-cost') ?? '') ?? zero }
}
