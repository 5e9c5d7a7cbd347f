/** A file of an archive: its path, and its content in pieces. */
export interface StreamedFile {
  path: string
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** Streams a zip, with one piece of a file in memory at a time. */
export async function* streamZip(files: AsyncIterable<StreamedFile>): AsyncGenerator<Uint8Array> {
  // Loaded on demand: building its tables takes longer than the rest of the startup.
  const { Zip, ZipPassThrough } = await import('fflate')
  const ready: Uint8Array[] = []
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    ready.push(chunk)
  })
  for await (const { path, content } of files) {
    const entry = new ZipPassThrough(path)
    zip.add(entry)
    for await (const piece of content) {
      entry.push(piece)
      yield* ready.splice(0)
    }
    entry.push(new Uint8Array(), true)
    yield* ready.splice(0)
  }
  zip.end()
  yield* ready.splice(0)
}
