import type { PagePosition } from '../../kernel/cursor.ts'
import { listPageMax } from '../../kernel/limits.ts'
import { type StreamedFile, streamZip } from './zip-stream.ts'

const encoder = new TextEncoder()

export const jsonFile = (path: string, value: unknown): StreamedFile => ({
  path,
  content: [encoder.encode(`${JSON.stringify(value, null, 2)}\n`)],
})

/** Returns a file with a JSON value in each line (JSON Lines), which `pages` reads one by one. */
export const linesFile = <Row>(
  path: string,
  pages: AsyncIterable<Row[]>,
  present: (rows: Row[]) => unknown[] | Promise<unknown[]> = (rows) => rows,
): StreamedFile => ({
  path,
  content: (async function* () {
    for await (const page of pages) {
      const rows = await present(page)
      yield encoder.encode(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    }
  })(),
})

/** Reads a list page by page. `next` returns the position after the last row of a page. */
export async function* pagesOf<Row, Position>(
  find: (after: Position | undefined) => Promise<Row[]>,
  next: (last: Row) => Position,
): AsyncGenerator<Row[]> {
  let after: Position | undefined
  for (;;) {
    const rows = await find(after)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < listPageMax) return
    after = next(last)
  }
}

export const positionOf = ({ created, id }: PagePosition): PagePosition => ({ created, id })

/** Adds SHA256SUMS to the files of an archive, as `sha256sum --check` reads it. */
async function* withChecksums(files: AsyncIterable<StreamedFile>): AsyncGenerator<StreamedFile> {
  const lines: string[] = []
  for await (const { path, content } of files) {
    const hasher = new Bun.CryptoHasher('sha256')
    const hashed = async function* () {
      for await (const piece of content) {
        hasher.update(piece)
        yield piece
      }
    }
    yield { path, content: hashed() }
    lines.push(`${hasher.digest('hex')}  ${path}\n`)
  }
  yield { path: 'SHA256SUMS', content: [encoder.encode(lines.join(''))] }
}

export const exportZip = (files: AsyncIterable<StreamedFile>): AsyncGenerator<Uint8Array> =>
  streamZip(withChecksums(files))
