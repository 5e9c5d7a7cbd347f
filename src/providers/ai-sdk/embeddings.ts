import type { EmbeddingModelV4 } from '@ai-sdk/provider'

import type { Json } from '../../core/schema.ts'
import { errorResponse } from '../response.ts'

/** Embeds texts, in as many calls as the provider needs. Only OpenAI accepts token ids. */
export async function createEmbeddings(
  model: EmbeddingModelV4,
  body: Json,
  signal: AbortSignal,
): Promise<Response> {
  const texts = [body.input].flat().filter((text) => typeof text === 'string')
  if (texts.length !== [body.input].flat().length) {
    return errorResponse(400, 'This model accepts texts, not token ids.')
  }
  const perCall = (await model.maxEmbeddingsPerCall) ?? texts.length
  const { dimensions } = body
  const data: { object: 'embedding'; index: number; embedding: number[] }[] = []
  let tokens: number | undefined = 0
  for (let from = 0; from < texts.length; from += perCall) {
    const { embeddings, usage } = await model.doEmbed({
      values: texts.slice(from, from + perCall),
      abortSignal: signal,
      ...(typeof dimensions === 'number' && { dimensions }),
    })
    for (const embedding of embeddings) {
      data.push({ object: 'embedding', index: data.length, embedding })
    }
    tokens = tokens === undefined || !usage ? undefined : tokens + usage.tokens
  }
  const usage = tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  return Response.json({ object: 'list', data, model: body.model, usage })
}
