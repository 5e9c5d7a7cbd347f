import { verifyBackup } from './backup.ts'
import { failedWith } from './command-result.ts'

declare const self: Worker

self.onmessage = async (event: MessageEvent<Parameters<typeof verifyBackup>>) => {
  self.postMessage(await verifyBackup(...event.data).catch(failedWith))
}
