import type { EmbeddingModelV4 } from '@ai-sdk/provider'

import { errorResponse } from '../response.ts'

/** Texts as vectors, in as many calls as the provider needs. Only OpenAI takes token ids. */
export async function createEmbeddings(
  model: EmbeddingModelV4,
  body: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Response> {
  const texts = [body.input].flat().filter((text) => typeof text === 'string')
  if (texts.length !== [body.input].flat().length) {
    return errorResponse(400, 'This model takes texts, not token ids.')
  }
  const most = (await model.maxEmbeddingsPerCall) ?? texts.length
  const { dimensions } = body
  const data: { object: 'embedding'; index: number; embedding: number[] }[] = []
  let tokens: number | undefined = 0
  for (let from = 0; from < texts.length; from += most) {
    const { embeddings, usage } = await model.doEmbed({
      values: texts.slice(from, from + most),
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
