import { Database } from 'bun:sqlite'

import { copyDatabase } from './copy-database.ts'

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
  // Post last: the receiver terminates this thread.
  self.postMessage(failure)
}
