/**
 * The namespace `downloads` of `claude.use`: the viewer offers the file, and the player saves it.
 * The call resolves when the viewer has the file; a page does not learn whether the player saved
 * it. Source: the type definitions that Claude serves to pages (November 2026).
 */
import { failure } from './bridge-calls.ts'

interface SaveRequest {
  filename: string
  data: string | Blob | BufferSource
}

const nameCharsMax = 512

export const claudeDownloads = Object.freeze({
  async save({ filename, data }: SaveRequest) {
    const blob = data instanceof Blob ? data : new Blob([data])
    if (typeof filename !== 'string' || filename.length > nameCharsMax || blob.size === 0) {
      const message = `A file has data, and a name of at most ${nameCharsMax} characters.`
      throw failure('bad_request', message)
    }
    if (!/\.\w+$/.test(filename)) {
      throw failure('rejected_extension', 'Name the file with an extension, such as report.csv.')
    }
    const href = URL.createObjectURL(blob)
    Object.assign(document.createElement('a'), { href, download: filename }).click()
    return { status: 'saved' as const }
  },
})
