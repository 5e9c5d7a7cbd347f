import type { Model } from './catalog.ts'
import { type Listing, toModel } from './listing.ts'

/** The models of the demo provider. Their invented prices are not 0, so that charges are tested. */
const listings: Listing[] = [
  {
    id: 'demo/chat',
    name: 'Demo chat: repeats your message',
    inputs: ['text', 'image'],
    contextLength: 128_000,
    maxOutput: 4_096,
    price: { prompt: '0.0000001', completion: '0.0000004', cache_read: '0.00000005' },
  },
  {
    id: 'demo/small',
    name: 'Demo chat with a small window, without tools or images',
    supportsTools: false,
    contextLength: 8_000,
    maxOutput: 1_000,
    price: { prompt: '0.00000005', completion: '0.0000002' },
  },
  {
    id: 'demo/omni',
    name: 'Demo chat for images, files, audio and video',
    inputs: ['text', 'image', 'file', 'audio', 'video'],
    contextLength: 1_000_000,
    maxOutput: 8_192,
    price: {
      prompt: '0.0000002',
      completion: '0.0000008',
      reasoning: '0.000001',
      tiers: [{ above: 200_000, prompt: '0.0000004', completion: '0.0000012' }],
    },
  },
  {
    id: 'demo/builder',
    name: 'Demo builder: fills page templates',
    supportsTools: false,
    contextLength: 256_000,
    maxOutput: 32_000,
    price: { prompt: '0.0000001', completion: '0.0000004' },
  },
  {
    id: 'demo/embedding',
    name: 'Demo embedding: a fixed vector for each text',
    type: 'embedding',
    contextLength: 8_192,
    price: { prompt: '0.00000002' },
  },
  {
    id: 'demo/moderation',
    name: 'Demo moderation: flags a few words',
    type: 'moderation',
    inputs: ['text', 'image'],
    price: { prompt: '0.00000002' },
  },
  {
    id: 'demo/rerank',
    name: 'Demo rerank: by the words that documents share with the query',
    type: 'rerank',
    price: { per_search: '0.0001' },
  },
  {
    id: 'demo/realtime',
    name: 'Demo realtime: repeats your text over a WebSocket',
    type: 'realtime',
    inputs: ['text'],
    outputs: ['text'],
    supportsTools: false,
    contextLength: 8_000,
    maxOutput: 1_000,
    price: {
      prompt: '0.0000001',
      completion: '0.0000004',
      cache_read: '0.00000005',
      audio: '0.000001',
      audio_completion: '0.000002',
    },
  },
  {
    id: 'demo/image',
    name: 'Demo image',
    type: 'image',
    inputs: ['text', 'image'],
    price: { per_image: '0.001' },
  },
  {
    id: 'demo/video',
    name: 'Demo video: moving colored squares',
    type: 'video',
    price: { per_second: '0.001' },
  },
  {
    id: 'demo/speech',
    name: 'Demo speech: one tone per character',
    type: 'audio',
    outputs: ['audio'],
    price: { per_character: '0.000001' },
  },
  {
    id: 'demo/transcription',
    name: 'Demo transcription: returns the length of the audio',
    type: 'audio',
    inputs: ['audio'],
    outputs: ['text'],
    price: { per_minute: '0.0006' },
  },
]

/** Creates the models of the upstream `demo`. */
export const demoModels = (marginPercent: number): Model[] =>
  listings.map((listing) =>
    toModel(listing, [{ upstream: 'demo', model: listing.id }], marginPercent),
  )
