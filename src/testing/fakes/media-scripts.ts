import { end, head, json, send, type Step } from './chat-scripts.ts'

/** A PNG of one pixel. */
export const fakeImage =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4nzsJAAPdAc/qIU7/AAAAAElFTkSuQmCC'

const tokens = { prompt_tokens: 11, total_tokens: 11 }
const image = { b64_json: fakeImage }
const sound = new Uint8Array(Buffer.from('ID3 a sound of sixteen bytes'))

export const raw = (bytes: Uint8Array, type: string): Step[] => [
  send(`${head(200, type, `content-length: ${bytes.length}\r\n`)}\r\n`),
  send(bytes),
  end,
]

const scripts: Record<string, Step[]> = {
  'embedding-ok': json(200, {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }],
    model: 'fake',
    usage: tokens,
  }),
  'embedding-no-usage': json(200, {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: [0.6, 0.8] }],
    model: 'fake',
  }),
  'embedding-empty': json(200, { object: 'list', data: [], model: 'fake', usage: tokens }),
  'moderation-ok': json(200, {
    id: 'modr-1',
    model: 'fake',
    results: [{ flagged: true, categories: { violence: true }, category_scores: { violence: 1 } }],
  }),
  'rerank-ok': json(200, {
    id: 'r-1',
    results: [
      { index: 0, relevance_score: 0.2 },
      { index: 1, relevance_score: 0.9 },
    ],
    meta: { billed_units: { search_units: 1 } },
  }),
  'rerank-tokens': json(200, {
    data: [{ index: 1, relevance_score: 0.9 }],
    usage: { total_tokens: 11 },
  }),
  'rerank-unknown': json(200, { results: [{ index: 7, relevance_score: 0.2 }] }),
  'image-ok': json(200, { created: 1, data: [image] }),
  'image-two': json(200, { created: 1, data: [image, image] }),
  'image-told': json(200, {
    created: 1,
    data: [{ ...image, revised_prompt: 'A small boat' }],
    model: 'fake',
    background: 'opaque',
    output_format: 'png',
    quality: 'high',
    size: '64x32',
  }),
  'image-tokens': json(200, {
    created: 1,
    data: [image],
    usage: { input_tokens: 11, output_tokens: 1_000, total_tokens: 1_011 },
  }),
  'image-url': json(200, { created: 1, data: [{ url: 'CANARY' }] }),
  'image-empty': json(200, { created: 1, data: [] }),
  'image-no-picture': json(200, { created: 1, data: [{ b64_json: '<html>' }] }),
  'video-ok': json(200, { id: 'film', object: 'video', status: 'queued' }),
  'speech-ok': raw(sound, 'audio/mpeg'),
  'speech-empty': raw(new Uint8Array(), 'audio/mpeg'),
  'speech-json': json(200, { error: 'not a sound' }),
  'speech-cut': [
    send(`${head(200, 'audio/mpeg', 'content-length: 1000\r\n')}\r\n`),
    send(sound),
    { do: 'reset' },
  ],
  'transcription-ok': json(200, { text: 'Hello wörld', usage: { type: 'duration', seconds: 2 } }),
  'transcription-no-usage': json(200, { text: 'Hello wörld' }),
  'transcription-empty': json(200, { text: '' }),
}

const named = (name: string): Step[] => scripts[name] ?? []

/** Responses of a fake upstream for all media endpoints, by the model's name. */
export const mediaScripts: Record<string, Step[]> = {
  ...scripts,
  'edit-ok': named('image-ok'),
  'variation-ok': named('image-ok'),
  'translation-ok': named('transcription-ok'),
}
