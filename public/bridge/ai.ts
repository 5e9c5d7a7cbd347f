import type { Bridge } from './bridge.ts'

/** The bounds of a call of a model. */
export interface AiLimits {
  /** Bytes of the text of one call, as UTF-8. */
  textBytesMax: number
  /** Bytes of the pictures and files beside it. */
  fileBytesMax: number
}

/** `service.ai`: models for an app, which the player, the maker or the operator pays for. */
export const openAi = (call: Bridge) =>
  Object.freeze({
    /** Returns the bounds of a call. */
    limits: (): Promise<AiLimits> => call<AiLimits>('ai.limits', {}).result,
  })
