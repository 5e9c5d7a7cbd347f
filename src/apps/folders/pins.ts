import { isScript, pathFrom } from './page-names.ts'
import { attributeOf, rewriteTags } from './page-tags.ts'
import type { InputFile } from './unzip.ts'

/** A script or a page of a folder. */
export interface FolderCode {
  path: string
  text: string
}

/** A hash in code: a loader, such as that of webpack, or an import map pins what it loads. */
const hashInCode = /\bsha(?:256|384|512)-[\w+/]{43}/

/** Returns a function that tells whether hashes pin the bytes of a file, which stays as it is. */
export function openPins(pages: FolderCode[], files: InputFile[]): (path: string) => boolean {
  const pinned = new Set<string>()
  let isPinnedByCode = false
  for (const { path, text } of pages) {
    if (!/integrity/i.test(text)) continue
    rewriteTags(text, (tag) => {
      isPinnedByCode ||= tag.name === 'script' && hashInCode.test(tag.body)
      const url = attributeOf(tag.text, 'src') ?? attributeOf(tag.text, 'href')
      const hasHash = attributeOf(tag.text, 'integrity') !== undefined
      // A page with a base element names files from the root.
      if (hasHash && url !== undefined) pinned.add(pathFrom(path, url)).add(pathFrom('', url))
      return ''
    })
  }
  // That of another host.
  pinned.delete('')
  const textOf = ({ bytes }: InputFile): string => new TextDecoder().decode(bytes)
  isPinnedByCode ||=
    pinned.size > 0 && files.some((file) => isScript(file.path) && hashInCode.test(textOf(file)))
  return (path) => isPinnedByCode || pinned.has(path)
}
