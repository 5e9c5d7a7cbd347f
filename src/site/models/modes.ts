/** The kinds of requests that models serve. The playground sends each of them. */
export const modes = ['chat', 'image', 'video', 'speech', 'transcription', 'embedding'] as const
export type Mode = (typeof modes)[number]

/** Kinds of requests with those that only programs send. */
export const requestModes = [...modes, 'moderation', 'rerank'] as const
export type RequestMode = (typeof requestModes)[number]

/** Kinds of models: sessions have no single request. */
export type ModelMode = RequestMode | 'realtime'

/** Paths below `/v1` (document 2, section 4). */
export const modePaths: Record<RequestMode, string> = {
  chat: '/chat/completions',
  image: '/images/generations',
  video: '/videos',
  speech: '/audio/speech',
  transcription: '/audio/transcriptions',
  embedding: '/embeddings',
  moderation: '/moderations',
  rerank: '/rerank',
}

/** Returns the kind of requests of a model: an audio model speaks or transcribes. */
export function modeOf({
  type,
  outputs,
}: {
  type: ModelMode | 'audio'
  outputs: string[]
}): ModelMode {
  if (type !== 'audio') return type
  return outputs.includes('audio') ? 'speech' : 'transcription'
}
