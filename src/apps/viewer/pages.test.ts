import { expect, test } from 'bun:test'

import { readPublic } from '../../kernel/public-files.ts'
import { MemoryAppSource } from '../../testing/fakes/memory-app-source.ts'
import { Pages } from './pages.ts'

test('no file of public/dist is decompressed before a page needs it', () => {
  const read: string[] = []
  const files = new Map(
    [...readPublic()].map(([name, file]) => {
      const identity = (): Uint8Array => {
        read.push(name)
        return file.identity()
      }
      return [name, { name, type: file.type, etag: 'one', identity }]
    }),
  )
  const urls = { app: 'http://localhost:3000' }
  const pages = new Pages(new MemoryAppSource(), urls, { now: () => 0 }, 'a secret', files)
  expect(read).toEqual([])
  expect(pages.assets().script.text).not.toBe('')
  expect(read).toContain('frame/shell.js')
})
