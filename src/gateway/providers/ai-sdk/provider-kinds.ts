import type { Experimental_VideoModelV4 as VideoModelV4, ProviderV4 } from '@ai-sdk/provider'

import type { AiSdkKind } from '../../../kernel/config/providers.ts'
import { cohereCodec } from '../../cohere/encode.ts'
import type { UpstreamCodec } from '../../conversation/codec.ts'
import { geminiCodec } from '../../gemini/encode.ts'
import { messagesCodec } from '../../messages-api/encode.ts'

/** The settings of every provider package. */
interface Access {
  apiKey: string
  baseURL: string
  fetch: typeof fetch
}

type Options = NonNullable<
  Parameters<ReturnType<ProviderV4['imageModel']>['doGenerate']>[0]['providerOptions']
>

/** A provider package. The shared interface has no video models yet. */
export type AiSdkProvider = ProviderV4 & { videoModel?(model: string): VideoModelV4 }

/** The API of chats of one kind of provider, its package, and its differences from the others. */
export interface ProviderKind {
  /** Undefined where the package, or nothing, serves chats. */
  codec?: UpstreamCodec
  /** Loads the package, on the first request that is not a chat of `codec`. */
  open(access: Access): Promise<AiSdkProvider>
  /** Addresses that are built into the package; the configured one replaces them. */
  defaultBaseUrls?: string[]
  /** Accepts aspect ratios instead of image sizes. */
  usesAspectRatios?: boolean
  languageOptions?(code: string | undefined): Options
  /** Its names of the audio formats that it supports. */
  speechFormats?: Record<string, string>
}

const same = (...formats: string[]): Record<string, string> =>
  Object.fromEntries(formats.map((format) => [format, format]))

/** All kinds of providers without OpenAI's API. */
export const providerKinds: Record<AiSdkKind, ProviderKind> = {
  anthropic: {
    codec: messagesCodec,
    open: async (access) => (await import('@ai-sdk/anthropic')).createAnthropic(access),
  },
  google: {
    codec: geminiCodec,
    open: async (access) => (await import('@ai-sdk/google')).createGoogle(access),
    usesAspectRatios: true,
  },
  cohere: {
    codec: cohereCodec,
    open: async (access) => (await import('@ai-sdk/cohere')).createCohere(access),
  },
  bedrock: {
    open: async ({ baseURL, ...access }) => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock')
      // The region is in the base URL; without one here the package reads the environment.
      const region = /bedrock-runtime\.([a-z0-9-]+)\./.exec(baseURL)?.[1] ?? 'us-east-1'
      return createAmazonBedrock({ ...access, baseURL, region })
    },
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
