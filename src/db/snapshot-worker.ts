import { Database } from 'bun:sqlite'

import { copyDatabase } from './copy.ts'

declare const self: Worker

self.onmessage = (event: MessageEvent<{ file: string; toFile: string }>) => {
  const { file, toFile } = event.data
  const database = new Database(file, { readonly: true })
  let failure = ''
  try {
    copyDatabase(database, toFile)
  } catch (error) {
    failure = String(error)
  }
  database.close()
  // Who hears of it ends this thread, and would leave an open connection behind.
  self.postMessage(failure)
}
