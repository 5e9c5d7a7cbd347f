import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

/** An Ollama answers at once or is not there; what listens and is silent is left after this. */
const askMs = 3_000
const modelsMax = 200

const Tags = Type.Object({ models: Type.Array(Type.Object({ name: Type.String() })) })

/** The models an Ollama has, asked once; undefined when none answers at `host`. */
export async function listOllamaModels(host: string): Promise<string[] | undefined> {
  try {
    const signal = AbortSignal.timeout(askMs)
    const answer = await fetch(`${host}/api/tags`, { signal, redirect: 'error' })
    const tags: unknown = answer.ok ? await answer.json() : undefined
    if (!Value.Check(Tags, tags)) return undefined
    return tags.models.slice(0, modelsMax).map(({ name }) => name)
  } catch {
    // No Ollama is the ordinary case.
    return undefined
  }
}
