import type { FolderFile } from '../../apps/folders/folder.ts'
import { imageTypeOf, skillFile } from '../../apps/folders/read-pack.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { encodePath } from '../../kernel/http/path.ts'
import { formatBytes } from '../format.ts'
import { renderFile } from './markdown.ts'

/** A file of a pack as its page shows it. */
export interface ShownFile {
  file: FolderFile
  bytes: Uint8Array
  /** Paths of all files. */
  files: string[]
  /** Address of another file on the page; the path follows. */
  viewUrl: string
  /** Address of the content of a file; the path follows. */
  contentUrl: string
}

interface Folder {
  folders: Map<string, Folder>
  files: FolderFile[]
}

const emptyFolder = (): Folder => ({ folders: new Map(), files: [] })

function treeOf(files: readonly FolderFile[]): Folder {
  const root = emptyFolder()
  for (const file of files) {
    let folder = root
    for (const name of file.path.split('/').slice(0, -1)) {
      const next = folder.folders.get(name) ?? emptyFolder()
      folder.folders.set(name, next)
      folder = next
    }
    folder.files.push(file)
  }
  return root
}

/** The files of a pack as a tree of links. */
export function fileTree(files: readonly FolderFile[], viewUrl: string, current: string): Html {
  const list = ({ folders, files: own }: Folder): Html =>
    html`<ul>
      ${own.map(({ path, bytes }) => {
        const name = path.split('/').at(-1) ?? path
        return html`<li>
          <a
            href="${viewUrl}${encodeURIComponent(path)}"
            ${path === current && html` aria-current="true"`}
            >${name}</a
          ><span class="small">${formatBytes(bytes)}</span>
        </li>`
      })}${[...folders].map(
        ([name, folder]) =>
          html`<li>
            <span class="folder">${name}/</span>
            ${list(folder)}
          </li>`,
      )}
    </ul>`
  return html`<nav class="file-tree" aria-label="Files">${list(treeOf(files))}</nav>`
}

/** SKILL.md without its frontmatter, which the page shows as facts. */
const withoutFrontmatter = (text: string): string =>
  text.replace(/^---[ \t]*\r?\n[^]*?\n---[ \t]*(?:\r?\n|$)/, '')

/** Renders a file: Markdown, a picture, or text. */
export async function renderShownFile(shown: ShownFile): Promise<Part> {
  const { file, bytes, viewUrl, contentUrl, files } = shown
  const { path } = file
  if (imageTypeOf(path) !== undefined) {
    return html`<img class="file-image" src="${contentUrl}${encodePath(path)}" alt="${path}" />`
  }
  const text = new TextDecoder().decode(bytes)
  if (!path.toLowerCase().endsWith('.md')) {
    return html`<pre
      class="plain-file"
      tabindex="0"
      aria-label="${path}"
    ><code>${text}</code></pre>`
  }
  const own = path === skillFile ? withoutFrontmatter(text) : text
  const task = { text: own, path, files, viewUrl, contentUrl }
  return html`<div class="markdown">
    ${await renderFile(`${file.sha256} ${viewUrl} ${path}`, task)}
  </div>`
}
