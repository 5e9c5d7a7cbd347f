import type { HostedFile } from './app-source.ts'

/** Bytes of the files that a page gets before its first script. */
const bytesMax = 24 * 1_048_576

/** Places where a page names a file by its URL, other than a call of service.assets. */
const references =
  /(?:(?<![-\w])(?:src|href|poster)\s*=\s*|\burl\(\s*|\b(?:fetch|Audio)\(\s*|\.open\(\s*["'`]\w+["'`]\s*,\s*)["'`]?(?:\.?\/)*([\w./%-]+)/gi

/** Returns the name under which a file of a folder is stored: "img/ship.png" is "img-ship.png". */
const flattened = (path: string): string => path.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-')

/**
 * Returns the files of an app that its page names by relative URLs, such as `fetch('data.json')`.
 * A page that never uses `service.assets` can only mean them so, whatever its names are.
 */
export function ownFiles(html: string, files: HostedFile[]): HostedFile[] {
  const named = html.includes('service.assets')
    ? new Set(html.matchAll(references).flatMap(([, name = '']) => [name, flattened(name)]))
    : undefined
  let bytes = 0
  return files.filter((file) => {
    if (named && !named.has(file.name)) return false
    bytes += file.bytes
    return bytes <= bytesMax
  })
}
