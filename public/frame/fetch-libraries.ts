import { field, type Libraries, type LibraryFile } from './messages.ts'

/** Returns whether a file is sent as text. */
export const isText = (type: string): boolean => /script|css|json/.test(type)

/** Returns bytes as base64. */
export const toBase64 = (bytes: Blob): Promise<string> =>
  new Promise((done) => {
    const reader = new FileReader()
    reader.onload = () => done(String(reader.result).replace(/.*,/, ''))
    reader.readAsDataURL(bytes)
  })

/** Returns the bytes of base64. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text)
  const bytes = new Uint8Array(letters.length)
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at)
  return bytes
}

/** Returns the values of the promises that were fulfilled. */
const fulfilled = <Value>(results: PromiseSettledResult<Value>[]): Value[] =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))

/** Fetches the files of rows. One that fails is left out, as if it were blocked. */
export async function fetchFiles(
  rows: unknown,
  answered: (url: string) => Promise<Response>,
): Promise<LibraryFile[]> {
  const read = (row: unknown, name: string): string => String(field(row, name))
  const files = (Array.isArray(rows) ? rows : []).map(
    async (row: unknown): Promise<LibraryFile> => {
      const response = await answered(read(row, 'url'))
      const type = read(row, 'type')
      const text = await (isText(type) ? response.text() : response.blob().then(toBase64))
      return { name: read(row, 'name'), type, text }
    },
  )
  return fulfilled(await Promise.allSettled(files))
}

/** Fetches the library files of a page, and the scripts that load them. */
export async function fetchLibraries(
  list: unknown,
  answered: (url: string) => Promise<Response>,
): Promise<Libraries> {
  const textOf = async (name: string): Promise<string> => {
    const url = field(list, name)
    return typeof url === 'string' ? (await answered(url)).text() : ''
  }
  const [files, loader, script] = await Promise.all([
    fetchFiles(field(list, 'files'), answered),
    textOf('loader'),
    textOf('script'),
  ])
  return {
    loader,
    script,
    files,
    urls: field(list, 'urls'),
    imports: field(list, 'imports'),
  }
}
