import { isTranscriptionModel } from '../audio/transcriptions.ts'
import type { Model } from '../models/catalog.ts'
import type { MistralModel } from './schemas.ts'

/**
 * Converts a model to Mistral's format. Its clients reject a `type` other than `base`, so the
 * capabilities say what the model is for.
 */
export function presentModel(model: Model): MistralModel {
  const { id, name, type, inputs, outputs, contextLength, ownedBy, supportsTools } = model
  const isChat = type === 'chat'
  return {
    id,
    object: 'model',
    created: 0,
    owned_by: ownedBy,
    name,
    description: null,
    max_context_length: contextLength,
    aliases: [],
    deprecation: null,
    default_model_temperature: null,
    capabilities: {
      completion_chat: isChat,
      function_calling: isChat && supportsTools,
      completion_fim: false,
      fine_tuning: false,
      vision: isChat && inputs.includes('image'),
      ocr: false,
      classification: false,
      moderation: type === 'moderation',
      audio: isChat && inputs.includes('audio'),
      audio_transcription: type === 'audio' && isTranscriptionModel(model),
      audio_speech: type === 'audio' && outputs.includes('audio'),
    },
    type: 'base',
  }
}
