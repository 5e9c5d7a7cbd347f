import { check } from './backup.ts'
import { failedBy } from './outcome.ts'

declare const self: Worker

self.onmessage = async (event: MessageEvent<Parameters<typeof check>>) => {
  self.postMessage(await check(...event.data).catch(failedBy))
}
