import { Database } from 'bun:sqlite'

import { copyDatabase } from './copy.ts'

declare const self: Worker

self.onmessage = (event: MessageEvent<{ file: string; toFile: string }>) => {
  const { file, toFile } = event.data
  const database = new Database(file, { readonly: true })
  try {
    copyDatabase(database, toFile)
    self.postMessage('')
  } catch (error) {
    self.postMessage(String(error))
  } finally {
    database.close()
  }
}
