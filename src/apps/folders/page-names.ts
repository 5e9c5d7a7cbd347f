/**
 * Finds the page that a static host shows for a path of a folder: "docs/" is docs/index.html, and
 * "about" is about.html or about/index.html. The server and the shell both look it up.
 */
export function findPageName(
  names: { has(name: string): boolean },
  path: string,
): string | undefined {
  const isFolder = path === '' || path.endsWith('/')
  const found = isFolder ? [`${path}index.html`] : [path, `${path}.html`, `${path}/index.html`]
  return found.find((name) => /\.html?$/i.test(name) && names.has(name))
}

/** Returns the name under which an asset is stored: "img/Ship 1.png" is "img-ship-1.png". */
export const assetNameOf = (path: string): string =>
  path.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-')
