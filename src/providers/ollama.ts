import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

const timeoutMs = 3_000
const modelsMax = 200

const TagsSchema = Type.Object({ models: Type.Array(Type.Object({ name: Type.String() })) })

/** Lists the models of an Ollama server; undefined when none responds at `host` within 3 s. */
export async function listOllamaModels(host: string): Promise<string[] | undefined> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(`${host}/api/tags`, { signal, redirect: 'error' })
    const tags: unknown = response.ok ? await response.json() : undefined
    if (!Value.Check(TagsSchema, tags)) return undefined
    return tags.models.slice(0, modelsMax).map(({ name }) => name)
  } catch {
    // Most servers have no Ollama.
    return undefined
  }
}
