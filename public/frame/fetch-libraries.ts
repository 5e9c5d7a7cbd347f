import { field, type Libraries, type LibraryFile, text } from './messages.ts'

const urlCharsMax = 2_000

/** Reads a list of pairs of texts from a response. */
const pairs = (value: unknown): [string, string][] =>
  (Array.isArray(value) ? value : []).map((pair: unknown) => [
    text(pair, '0', urlCharsMax),
    text(pair, '1', urlCharsMax),
  ])

/** Returns bytes as base64, in pieces that fit on the stack. */
function toBase64(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 0x8000) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + 0x8000)))
  }
  return btoa(parts.join(''))
}

/** Fetches the library files of a page. One that fails is left out, as if it were blocked. */
export async function fetchLibraries(
  list: unknown,
  answered: (url: string) => Promise<Response>,
): Promise<Libraries> {
  const rows = field(list, 'files')
  const files = (Array.isArray(rows) ? rows : []).map(
    async (row: unknown): Promise<LibraryFile> => {
      const answer = await answered(text(row, 'url', urlCharsMax))
      const type = text(row, 'type', 100)
      const isBinary = !/javascript|css|json/.test(type)
      const content = isBinary
        ? toBase64(new Uint8Array(await answer.arrayBuffer()))
        : await answer.text()
      return { name: text(row, 'name', urlCharsMax), type, text: content, isBinary }
    },
  )
  const loader = await (await answered(text(list, 'loader', urlCharsMax))).text()
  const came = await Promise.allSettled(files)
  return {
    loader,
    files: came.flatMap((file) => (file.status === 'fulfilled' ? [file.value] : [])),
    urls: pairs(field(list, 'urls')),
    imports: pairs(field(list, 'imports')),
  }
}
