import { findPageName } from '../../src/apps/folders/page-names.ts'
import { fetchOwn, filesIn } from './host.ts'
import type { PageContent } from './messages.ts'

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

  /** Returns the page and the fragment that a URL names; undefined for any other URL. */
  find(url: string): { page: string; hash: string } | undefined {
    const address = new URL(this.frame, location.href).href.replace(/\?.*/, '')
    if (!url.startsWith(address) || !URL.canParse(url)) return undefined
    const { pathname, hash } = new URL(url)
    const path = decodeURI(pathname.slice(new URL(address).pathname.length))
    const page = findPageName(this.#urls, path)
    return page === undefined ? undefined : { page, hash }
  }

  /** Fetches a page; the first one without a name. Throws where its file is missing. */
  async content({ page, hash }: { page?: string; hash?: string } = {}): Promise<PageContent> {
    const { files } = this.first
    if (!files || page === undefined || page === files.page) return this.#at(this.first, '', hash)
    const response = await fetchOwn(this.#urls.get(page) ?? '')
    return this.#at({ ...this.first, html: await response.text() }, page, hash)
  }

  #at(content: PageContent, page: string, hash = ''): PageContent {
    const { files } = content
    return files ? { ...content, files: { ...files, page: page || files.page, hash } } : content
  }
}
