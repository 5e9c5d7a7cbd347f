import type { Api, Part, ThinkingPart } from './chat-request.ts'

/** A signature of a thought, with the API of the model that made it. */
export interface Seal {
  signature: string
  /** A client may send a name that no codec has, as of another version: no upstream gets it. */
  origin: string
  /** True if the signature is the whole thought, encrypted. */
  isEncrypted?: boolean
}

/** A seal whose mark may be undefined. */
export interface Signed extends Pick<Seal, 'signature' | 'origin'> {
  isEncrypted?: boolean | undefined
}

/**
 * Returns whether a signature ends the thought before it. OpenAI encrypts the thought of a summary,
 * and others encrypt whole thoughts.
 */
export const endsThought = ({ isEncrypted, origin }: Partial<Signed>): boolean =>
  isEncrypted !== true || origin === 'responses'

const foreign = /^berth\.(\w+)\.(encrypted\.)?(.*)$/s

/**
 * Returns a signature for a client whose API has no field for its origin. One of the client's own
 * API stays as it is.
 */
export const sealText = ({ signature, origin, isEncrypted }: Signed, clientApi: Api): string =>
  origin === clientApi
    ? signature
    : `berth.${origin}.${isEncrypted === true ? 'encrypted.' : ''}${signature}`

/** Parses the text that `sealText` returned for a client of this API. */
export function parseSeal(text: string, clientApi: Api): Seal {
  const [, name, mark, signature = ''] = foreign.exec(text) ?? []
  if (name === undefined) return { signature: text, origin: clientApi }
  return { signature, origin: name, ...(mark !== undefined && { isEncrypted: true }) }
}

/**
 * Moves signatures of calls from the thoughts before them into the calls, the first to the first
 * call without one. Google signs calls, and clients of other APIs have it in a thought before the
 * call. Some move all thoughts to the start.
 */
export function signCalls<P extends Part>(parts: readonly P[]): P[] {
  const own = new Set(parts.map((part) => (part.type === 'call' ? part.signature : undefined)))
  const seals = parts.filter((part) => isCallSeal(part) && !own.has(part.signature))
  const taken = new Set<P>()
  let before = 0
  const signed = parts.map((part) => {
    if (part === seals[before]) before += 1
    const seal = seals[taken.size]
    const isUnsigned = part.type === 'call' && part.signature === undefined
    if (!isUnsigned || taken.size === before || seal?.type !== 'thinking') return part
    taken.add(seal)
    return { ...part, signature: seal.signature }
  })
  return signed.filter((part) => !taken.has(part) && !(isCallSeal(part) && own.has(part.signature)))
}

const isCallSeal = (part: Part): part is ThinkingPart =>
  part.type === 'thinking' && part.origin === 'gemini' && part.text === ''
