import { type Message, msg } from '../../kernel/words/message.ts'
import type { ModelMode } from './modes.ts'

export const modeNames: Record<ModelMode, Message> = {
  chat: msg('Chat'),
  image: msg('Images'),
  video: msg('Videos'),
  speech: msg('Speech'),
  transcription: msg('Transcription'),
  embedding: msg('Embeddings'),
  moderation: msg('Moderation'),
  rerank: msg('Rerank'),
  realtime: msg('Realtime'),
}
