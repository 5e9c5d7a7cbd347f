/**
 * Finds the page that a static host shows for a path of a folder: "docs/" is docs/index.html, and
 * "about" is about.html or about/index.html. The server and the shell both look it up.
 */
export function findPageName(
  names: { has(name: string): boolean },
  path: string,
): string | undefined {
  const isFolder = path === '' || path.endsWith('/')
  const indexes = ['index.html', 'index.htm'].map((name) => (isFolder ? '' : '/') + name)
  const found = isFolder ? [] : [path, `${path}.html`]
  return [...found, ...indexes.map((name) => path + name)].find(
    (name) => isHtml(name) && names.has(name),
  )
}

/** Returns the name under which an asset is stored: "img/Ship 1.png" is "img-ship-1.png". */
export const assetNameOf = (path: string): string =>
  path.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-')

/** Decodes percent escapes. A stray % leaves the text unchanged. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the name of a file by its path in a URL, in the form in which names are stored (NFC). */
export const fileNameOf = (path: string): string => decoded(path).normalize()

export const isHtml = (path: string): boolean => /\.html?$/i.test(path)
export const isCss = (path: string): boolean => /\.css$/i.test(path)
export const isScript = (path: string): boolean => /\.[cm]?js$/i.test(path)

/** Resolves a reference of a file, without its query; '' for one that leaves the folder. */
export function pathFrom(path: string, name: string): string {
  const at = path.split('/').map(encodeURIComponent).join('/')
  const url = URL.parse(name, `file:///${at}`)
  if (url?.protocol !== 'file:' || url.host !== '') return ''
  try {
    return decodeURIComponent(url.pathname.slice(1))
  } catch {
    return ''
  }
}
