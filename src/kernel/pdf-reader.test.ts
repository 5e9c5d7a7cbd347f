import { afterEach, expect, test } from 'bun:test'

import { catchError } from '../testing/catch-error.ts'
import { makePdf, makePdfBomb } from '../testing/fixtures/pdf.ts'
import { ApiError } from './errors.ts'
import { PdfReader } from './pdf-reader.ts'

const open: PdfReader[] = []
const newReader = (...limits: ConstructorParameters<typeof PdfReader>): PdfReader => {
  const reader = new PdfReader(...limits)
  open.push(reader)
  return reader
}
afterEach(() => {
  for (const reader of open.splice(0)) reader.close()
})

const calm = { pages: 1, text: 'Hello tide' }

test('a decompression bomb is stopped, whatever else runs, and the next PDF is read', async () => {
  const reader = newReader({ memoryBytes: 64 * 1_048_576 })
  const bombs = Array.from({ length: 3 }, () => reader.read(makePdfBomb(300_000_000)))
  for (const bomb of bombs) expect(await bomb).toEqual({ unreadable: 'it took too much memory' })
  expect(await reader.read(makePdf(['Hello tide']))).toEqual(calm)
})

test('a PDF that takes too long is stopped', async () => {
  const reader = newReader({ cpuMs: 1 })
  expect(await reader.read(makePdfBomb(300_000_000))).toEqual({ unreadable: 'it took too long' })
})

test('a process reads many PDFs, and counts pages without their text', async () => {
  const reader = newReader()
  for (let times = 0; times < 5; times += 1) {
    expect(await reader.read(makePdf(['Hello tide']))).toEqual(calm)
  }
  expect(await reader.read(makePdf(['Hello tide']), true)).toEqual({ pages: 1, text: '' })
})

test('a full queue and a closed reader throw try_again', async () => {
  const reader = newReader()
  const all = Array.from({ length: 20 }, () => reader.read(makePdf(['x'])))
  const error = await catchError(all.at(-1) ?? Promise.resolve())
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ errorName: 'try_again' })
  await Promise.all(all.slice(0, -1))
  reader.close()
  expect(await catchError(reader.read(makePdf(['x'])))).toMatchObject({ errorName: 'try_again' })
})
