import { type Api, apis } from './chat-request.ts'

/** A signature of a thought, with the API of the model that made it. */
export interface Seal {
  signature: string
  origin: Api
  /** True if the signature is the whole thought, encrypted. */
  isEncrypted?: boolean
}

const foreign = /^berth\.(\w+)\.(encrypted\.)?(.*)$/s

/**
 * Returns a signature for a client whose API has no field for its origin. One of the client's own
 * API stays as it is.
 */
export const sealText = ({ signature, origin, isEncrypted }: Seal, clientApi: Api): string =>
  origin === clientApi
    ? signature
    : `berth.${origin}.${isEncrypted === true ? 'encrypted.' : ''}${signature}`

/** Parses the text that `sealText` returned for a client of this API. */
export function parseSeal(text: string, clientApi: Api): Seal {
  const [, name, mark, signature = ''] = foreign.exec(text) ?? []
  const origin = apis.find((api) => api === name)
  if (!origin) return { signature: text, origin: clientApi }
  return { signature, origin, ...(mark !== undefined && { isEncrypted: true }) }
}
