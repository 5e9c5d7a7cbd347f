import { asString, isRecord } from '../../kernel/schema.ts'
import type { ThinkingPart } from '../conversation/chat-request.ts'
import { parseSeal, sealText } from '../conversation/sealed-thought.ts'

/** Base64 of `berth.`, with which the signatures of this server start. */
const ownStart = 'YmVydGgu'

/**
 * Returns thoughts of another API as a `thoughtSignature`, in base64 because Google's Python SDK
 * rejects all else. Clients of Google send it back with its part, while they may drop parts of
 * thoughts. Text that the client gets as a part is left out.
 */
export function signatureOf(thoughts: readonly ThinkingPart[]): string {
  const origin = thoughts.find((thought) => thought.origin !== undefined)?.origin ?? 'chat'
  const fields = thoughts.map(({ text, signature, isEncrypted, id }) => ({
    ...(text && { text }),
    ...(signature !== undefined && { signature }),
    ...(isEncrypted && { isEncrypted }),
    ...(id !== undefined && { id }),
  }))
  const signature = JSON.stringify(fields)
  return Buffer.from(sealText({ signature, origin }, 'gemini')).toString('base64')
}

/**
 * Parses a `thoughtSignature`: Google's own, or the thoughts that `signatureOf` returned. Python's
 * clients send it back in the alphabet for URLs.
 */
export function parseSignature(text: string): { own?: string; thoughts: ThinkingPart[] } {
  if (!text.startsWith(ownStart)) return { own: text, thoughts: [] }
  const { signature: list, origin } = parseSeal(Buffer.from(text, 'base64').toString(), 'gemini')
  const thoughts = parseList(list).flatMap((thought): ThinkingPart[] => {
    if (!isRecord(thought)) return []
    const { signature, isEncrypted, id } = thought
    return [
      {
        type: 'thinking',
        text: asString(thought.text),
        ...(typeof signature === 'string' && { signature, origin }),
        ...(isEncrypted === true && { isEncrypted }),
        ...(typeof id === 'string' && { id }),
      },
    ]
  })
  return { thoughts }
}

function parseList(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
