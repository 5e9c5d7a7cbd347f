import { expect, test } from 'bun:test'

import { ApiError } from '../errors.ts'
import { catchError } from '../testing/catch-error.ts'
import { makePdf, makePdfBomb } from '../testing/fixtures/pdf.ts'
import { bounds, PdfReader } from './pdf-reader.ts'

test('a decompression bomb is stopped and the next PDF is read', async () => {
  const reader = new PdfReader({ ...bounds, bytes: 64 * 1_048_576 })
  const bomb = await reader.read(makePdfBomb(300_000_000))
  expect(bomb).toEqual({ unreadable: expect.stringMatching(/memory|long/) })
  const calm = new PdfReader()
  expect(await calm.read(makePdf(['Hello tide']))).toEqual({ pages: 1, text: 'Hello tide' })
})

test('a PDF that takes too long is stopped', async () => {
  const reader = new PdfReader({ ...bounds, ms: 1 })
  const late = await reader.read(makePdf(['Hello tide']))
  expect(late).toEqual({ unreadable: 'it takes too long' })
})

test('a full queue throws try_again', async () => {
  const reader = new PdfReader({ ...bounds, ms: 1 })
  const all = Array.from({ length: 18 }, () => reader.read(makePdf(['x'])))
  const error = await catchError(all.at(-1) ?? Promise.resolve())
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({ errorName: 'try_again' })
  await Promise.all(all.slice(0, -1))
})
