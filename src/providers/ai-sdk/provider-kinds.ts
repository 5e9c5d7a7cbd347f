import type { Experimental_VideoModelV4 as VideoModelV4, ProviderV4 } from '@ai-sdk/provider'

import type { AiSdkKind } from '../../config/providers.ts'
import { isRecord } from '../../core/schema.ts'

/** What every provider package is opened with. */
interface Access {
  apiKey: string
  baseURL: string
  fetch: typeof fetch
}

type Options = NonNullable<
  Parameters<ReturnType<ProviderV4['imageModel']>['doGenerate']>[0]['providerOptions']
>

/** A provider package; the interface that all share does not name films yet. */
export type AiSdkProvider = ProviderV4 & { videoModel?(model: string): VideoModelV4 }

/** How one kind of provider is opened, and where it differs from the others. */
export interface ProviderKind {
  /** Its package is loaded when its first request comes. */
  open(access: Access): Promise<AiSdkProvider>
  /** Addresses built into its package, which are replaced by the configured one. */
  defaultBaseUrls?: string[]
  /** Mends the request's JSON: the package may ask for more output tokens than `most`. */
  adjustBody?(body: Record<string, unknown>, most: number): void
  /** What its package must find as the usage of a chat, or it reads nothing of the answer. */
  requiredUsage?: Record<string, unknown>
  /** Its thoughts are signed; a call of a tool whose thoughts are gone cannot be thought about. */
  signsReasoning?: boolean
  /** It knows shapes of pictures, not sizes. */
  usesAspectRatios?: boolean
  /** How it is told the language of a sound. */
  languageOptions?(code: string | undefined): Options
  /** Its word for each format of speech; what is missing it cannot make. */
  speechFormats?: Record<string, string>
}

const same = (...formats: string[]): Record<string, string> =>
  Object.fromEntries(formats.map((format) => [format, format]))

/** The fewest tokens Anthropic lets a model think, and the part of the output that it may take. */
const thinking = { fewest: 1_024, part: 0.8 }

/** The package adds the tokens for thinking to those that were asked for. */
function withinMost(body: Record<string, unknown>, most: number): void {
  if (typeof body.max_tokens !== 'number' || body.max_tokens <= most) return
  body.max_tokens = most
  const { thinking: thought } = body
  if (!isRecord(thought) || typeof thought.budget_tokens !== 'number') return
  const budget = Math.min(thought.budget_tokens, Math.floor(most * thinking.part))
  if (budget >= thinking.fewest) thought.budget_tokens = budget
  else delete body.thinking
}

const noTokens = { input_tokens: 0, output_tokens: 0 }

/** Every kind of provider that is spoken to in its own words, through its package. */
export const providerKinds: Record<AiSdkKind, ProviderKind> = {
  anthropic: {
    open: async (access) => (await import('@ai-sdk/anthropic')).createAnthropic(access),
    adjustBody: withinMost,
    requiredUsage: noTokens,
    signsReasoning: true,
  },
  google: {
    open: async (access) => (await import('@ai-sdk/google')).createGoogle(access),
    usesAspectRatios: true,
  },
  cohere: {
    open: async (access) => (await import('@ai-sdk/cohere')).createCohere(access),
    requiredUsage: { tokens: noTokens },
  },
  fal: {
    open: async (access) => {
      const fal = (await import('@ai-sdk/fal')).createFal(access)
      return { ...fal, transcriptionModel: fal.transcription, speechModel: fal.speech }
    },
    defaultBaseUrls: ['https://fal.run', 'https://queue.fal.run'],
    languageOptions: (code): Options => (code ? { fal: { language: code } } : {}),
    speechFormats: { mp3: 'url' },
  },
  replicate: {
    open: async ({ apiKey, ...access }) =>
      (await import('@ai-sdk/replicate')).createReplicate({ ...access, apiToken: apiKey }),
    usesAspectRatios: true,
  },
  elevenlabs: {
    open: async (access) => (await import('@ai-sdk/elevenlabs')).createElevenLabs(access),
    defaultBaseUrls: ['https://api.elevenlabs.io'],
    languageOptions: (code): Options => (code ? { elevenlabs: { languageCode: code } } : {}),
    speechFormats: { mp3: 'mp3', opus: 'opus_48000_128', pcm: 'pcm_24000', wav: 'pcm_24000' },
  },
  deepgram: {
    open: async (access) => (await import('@ai-sdk/deepgram')).createDeepgram(access),
    defaultBaseUrls: ['https://api.deepgram.com'],
    languageOptions: (code): Options => ({
      deepgram: code ? { language: code } : { detectLanguage: true },
    }),
    speechFormats: same('mp3', 'wav', 'opus', 'ogg', 'aac', 'flac', 'pcm'),
  },
}
