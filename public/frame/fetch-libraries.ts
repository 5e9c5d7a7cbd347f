import { field, type Libraries, type LibraryFile } from './messages.ts'

/** Returns whether a file is sent as text. */
export const isText = (type: string): boolean => /script|css|json/.test(type)

/** Returns bytes as base64. */
const toBase64 = (bytes: Blob): Promise<string> =>
  new Promise((done) => {
    const reader = new FileReader()
    reader.onload = () => done(String(reader.result).replace(/.*,/, ''))
    reader.readAsDataURL(bytes)
  })

/** Returns the values of the promises that were fulfilled. */
const fulfilled = <Value>(results: PromiseSettledResult<Value>[]): Value[] =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))

/** Fetches the library files of a page. One that fails is left out, as if it were blocked. */
export async function fetchLibraries(
  list: unknown,
  answered: (url: string) => Promise<Response>,
): Promise<Libraries> {
  const read = (row: unknown, name: string): string => String(field(row, name))
  const all = (name: string): unknown[] => {
    const rows = field(list, name)
    return Array.isArray(rows) ? rows : []
  }
  const files = all('files').map(async (row): Promise<LibraryFile> => {
    const response = await answered(read(row, 'url'))
    const type = read(row, 'type')
    const text = await (isText(type) ? response.text() : response.blob().then(toBase64))
    return { name: read(row, 'name'), type, text }
  })
  const script = async (url: unknown): Promise<string> => (await answered(String(url))).text()
  const loader = field(list, 'loader')
  return {
    loader: loader ? await script(loader) : '',
    scripts: await Promise.all(all('scripts').map(script)),
    files: fulfilled(await Promise.allSettled(files)),
    urls: field(list, 'urls'),
    imports: field(list, 'imports'),
  }
}
