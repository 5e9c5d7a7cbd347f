import { decoded, findPageName, isHtml } from '../../src/apps/folders/page-names.ts'
import { fetchOwn, filesIn } from './host.ts'
import type { PageContent } from './messages.ts'

/** A page of a folder, and where it starts. */
interface PagePlace {
  page: string
  /** Path of its URL in the folder. */
  path: string
  hash: string
  search: string
}

/** The pages of a folder, to show one after another in the same frame. */
export class FolderPages {
  readonly #urls: Map<string, string>

  /** `frame` is the address of the wrapper, which is that of the files. */
  constructor(
    private readonly first: PageContent,
    list: unknown,
    private readonly frame: string,
  ) {
    this.#urls = new Map(filesIn(list).map(({ name, url }) => [name, url]))
    if (first.files) this.#urls.set(first.files.page, '')
  }

  /**
   * Returns the page, query and fragment that a URL names, which may be relative to the folder;
   * undefined for any other URL.
   */
  find(given: string): PagePlace | undefined {
    const address = new URL(this.frame, location.href).href.replace(/\?.*/, '')
    const url = URL.parse(given, address)
    if (!url?.href.startsWith(address)) return undefined
    const { pathname, hash, search } = url
    const path = pathname.slice(new URL(address).pathname.length)
    const page = findPageName(this.#urls, decoded(path)) ?? this.#otherwise(path)
    return page === undefined ? undefined : { page, path, hash, search }
  }

  /**
   * Returns the page that static hosts show for a path without one: 404.html, or the only page of
   * an app, whose router has the path. A router has no paths of html files.
   */
  #otherwise(path: string): string | undefined {
    const first = this.first.files?.page ?? ''
    const top = first.slice(0, first.lastIndexOf('/') + 1)
    if (!path.startsWith(top)) return undefined
    const isOnly = !isHtml(path) && [...this.#urls.keys()].filter(isHtml).length === 1
    return this.#urls.has(`${top}404.html`) ? `${top}404.html` : isOnly ? first : undefined
  }

  /** Fetches a page; the first one without a name. Throws where its file is missing. */
  async content(place?: PagePlace): Promise<PageContent> {
    const { files } = this.first
    const page = place?.page ?? files?.page
    if (!files || page === files.page) return this.#at(this.first, place)
    const response = await fetchOwn(this.#urls.get(page ?? '') ?? '')
    return this.#at({ ...this.first, html: await response.text() }, place)
  }

  #at(content: PageContent, place?: PagePlace): PageContent {
    const { files } = content
    return files
      ? { ...content, files: { ...files, path: '', hash: '', search: '', ...place } }
      : content
  }
}
