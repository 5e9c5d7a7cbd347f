import type { Model } from './catalogue.ts'
import { type Listing, toModel } from './listing.ts'

/** What the demo upstream serves. The prices are made up, and not zero, so that money is tried. */
const listings: Listing[] = [
  {
    id: 'demo/chat',
    name: 'Demo chat: repeats what it is told',
    inputs: ['text', 'image'],
    contextLength: 128_000,
    maxOutput: 4_096,
    price: { prompt: '0.0000001', completion: '0.0000004', cache_read: '0.00000005' },
  },
  {
    id: 'demo/small',
    name: 'Demo chat with a small window, without tools and pictures',
    supportsTools: false,
    contextLength: 8_000,
    maxOutput: 1_000,
    price: { prompt: '0.00000005', completion: '0.0000002' },
  },
  {
    id: 'demo/omni',
    name: 'Demo chat that takes pictures, files, sound and film',
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
    name: 'Demo builder: templates of ours, no model',
    supportsTools: false,
    contextLength: 256_000,
    maxOutput: 32_000,
    price: { prompt: '0.0000001', completion: '0.0000004' },
  },
  {
    id: 'demo/embedding',
    name: 'Demo embedding: a direction for each text',
    type: 'embedding',
    contextLength: 8_192,
    price: { prompt: '0.00000002' },
  },
  { id: 'demo/image', name: 'Demo image', type: 'image', price: { per_image: '0.001' } },
  {
    id: 'demo/video',
    name: 'Demo video: coloured squares that move',
    type: 'video',
    price: { per_second: '0.001' },
  },
  {
    id: 'demo/speech',
    name: 'Demo speech: a tone for each character',
    type: 'audio',
    outputs: ['audio'],
    price: { per_character: '0.000001' },
  },
  {
    id: 'demo/transcription',
    name: 'Demo transcription: tells how long a sound is',
    type: 'audio',
    inputs: ['audio'],
    outputs: ['text'],
    price: { per_minute: '0.0006' },
  },
]

/** The demo models, as the upstream named `demo` serves them. */
export const demoModels = (marginPercent: number): Model[] =>
  listings.map((listing) =>
    toModel(listing, [{ upstream: 'demo', model: listing.id }], marginPercent),
  )
