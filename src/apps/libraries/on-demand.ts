import { dirname, join } from 'node:path/posix'

import { type Library, namedFilesMax, typeOf } from './library.ts'

/** Names in a script that may be of files beside it: data, pictures, WebAssembly and workers. */
const names =
  /["'`/]([\w@.-]{1,80}\.(?:wasm|json|bin|data|mem|png|gif|svg|jpe?g|webp|glb|hdr|mp3|ogg|wav|[cm]?js))["'`?]/g
/** Scripts of these names are started by a name. Others are modules that a bundle has in it. */
const startedScript = /worker|wasm|worklet|asm/i

/** Finds the files of a package that a script of it names, in its folder and below that. */
export function findNamed(library: Library, path: string, text: string): string[] {
  const folder = folderOf(path)
  const beside = [...library.files.keys()].filter(
    (file) => file !== path && file.startsWith(folder) && isNamed(file),
  )
  if (beside.length === 0) return []
  const named = new Set([...text.matchAll(names)].map(([, name]) => name))
  return beside.filter((file) => named.has(baseOf(file))).slice(0, namedFilesMax)
}

const imported = /\bimportScripts\(([^)]{1,2000})\)/g
const quoted = /["'`](?:\.\/)?([\w@./-]{1,200})["'`]/g

/** Finds the scripts that a classic worker of a package imports by their names. */
export function findImported(library: Library, path: string, text: string): string[] {
  const lists = [...text.matchAll(imported)].map(([, list = '']) => list)
  const given = lists.flatMap((list) => [...list.matchAll(quoted)].map(([, name = '']) => name))
  const paths = given.map((name) => join(folderOf(path), name))
  return paths.filter((one) => library.files.has(one)).slice(0, namedFilesMax)
}

/** Scripts that load others by names that they compute, with the folder of those. */
const computedFolders: readonly [name: string, script: RegExp, folder: string][] = [
  ['ace-builds', /(?:^|\/)ace\.js$/, '.'],
  ['prismjs', /(?:^|\/)prism-autoloader(?:\.min)?\.js$/, '../../components'],
]

/** Returns the folder from which a script loads what it computes; undefined without one. */
export function computedFolderOf({ name }: Library, path: string): string | undefined {
  const found = computedFolders.find(([library, script]) => library === name && script.test(path))
  return found && join(dirname(path), found[2])
}

/** Returns whether scripts load a file by its name alone: data, or a worker. */
export const isNamed = (path: string): boolean => isData(path) || startedScript.test(baseOf(path))

/** Returns whether a file is loaded by its address, and is no script or style of a page. */
export const isData = (path: string): boolean => !/javascript|css/.test(typeOf(path))

/** Returns the last part of a path. */
export const baseOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Returns the folder of a path with its slash; '' for the root of a package. */
export const folderOf = (path: string): string => {
  const folder = dirname(path)
  return folder === '.' ? '' : `${folder}/`
}
