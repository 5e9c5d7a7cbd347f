import { decoded, findPageName } from '../../src/apps/folders/page-names.ts'
import { fetchOwn, filesIn } from './host.ts'
import type { PageContent } from './messages.ts'

/** A page of a folder, and where it starts. */
interface PagePlace {
  page: string
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
    const path = decoded(pathname.slice(new URL(address).pathname.length))
    const page = findPageName(this.#urls, path)
    return page === undefined ? undefined : { page, hash, search }
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
    return files ? { ...content, files: { ...files, hash: '', search: '', ...place } } : content
  }
}
