import { check } from './backup.ts'
import type { Outcome } from './outcome.ts'

declare const self: Worker

self.onmessage = async (event: MessageEvent<Parameters<typeof check>>) => {
  const outcome = await check(...event.data).catch((error: unknown): Outcome => {
    return { ok: false, text: error instanceof Error ? error.message : String(error) }
  })
  self.postMessage(outcome)
}
