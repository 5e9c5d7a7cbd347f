import { zipSync } from 'fflate'

import { formatNumber, t } from '../../../public/words.ts'
import { readPageFolder } from '../../apps/folders/page-folder.ts'
import { type InputFile, isZip, unzip, type ZipLimits } from '../../apps/folders/unzip.ts'
import type { AppPreview } from '../studio/app-preview.island.ts'
import { type Draft, openDrafts } from './drafts.browser.ts'

const typeDelayMs = 400

const inMb = (bytes: number): string => `${Math.ceil((bytes / 1_048_576) * 10) / 10} MB`

// Not every engine exposes the classes of the entries.
const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

/** Reads dropped entries with their paths below the dropped folder, until there are too many. */
async function readEntry(
  entry: FileSystemEntry,
  found: InputFile[],
  filesMax: number,
): Promise<void> {
  if (found.length > filesMax) return
  const path = entry.fullPath.replace(/^\//, '')
  if (isFile(entry)) {
    const file = await new Promise<File>((done, fail) => entry.file(done, fail))
    found.push({ path, bytes: new Uint8Array(await file.arrayBuffer()) })
  } else if (isFolder(entry)) {
    const reader = entry.createReader()
    for (;;) {
      // A call returns only some of the entries, and none after the last.
      const some = await new Promise<FileSystemEntry[]>((done, fail) =>
        reader.readEntries(done, fail),
      )
      if (some.length === 0) return
      for (const one of some) await readEntry(one, found, filesMax)
    }
  }
}

/**
 * `<page-drop>`: shows a dropped, chosen or pasted page in the sandbox. Nothing is sent before the
 * form is. The work is kept in this browser until it is published, also through sign-up.
 */
class PageDrop extends HTMLElement {
  #timer = 0
  #drafts = openDrafts()

  connectedCallback(): void {
    document.addEventListener('dragover', (event) => event.preventDefault())
    document.addEventListener('drop', (event) => {
      event.preventDefault()
      if (event.dataTransfer) void this.#drop(event.dataTransfer)
    })
    this.#input?.addEventListener('change', () => void this.#choose())
    this.#text?.addEventListener('input', () => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.#paste(), typeDelayMs)
    })
    this.#remove?.addEventListener('click', () => void this.#clear())
    this.#text?.form?.addEventListener('submit', (event) => this.#submit(event))
    void this.#restore()
  }

  /** The limits of the server. */
  get #limits(): ZipLimits {
    return JSON.parse(this.dataset.limits ?? '{}')
  }

  get #input() {
    return this.querySelector<HTMLInputElement>('input[type=file]')
  }

  get #text() {
    return this.querySelector<HTMLTextAreaElement>('textarea[name=html]')
  }

  get #remove() {
    return this.querySelector<HTMLButtonElement>('.drop-head button')
  }

  #showStatus(text: string): void {
    // A page may be dropped while another way is shown.
    const way = this.querySelector<HTMLInputElement>('.segments [value=page]')
    if (way && text !== '') way.checked = true
    const status = this.querySelector('[role=status]')
    if (status) status.textContent = text
    if (this.#remove) this.#remove.hidden = text === ''
  }

  async #drop(data: DataTransfer): Promise<void> {
    const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
    const [single] = data.files
    // Some programs drop a file without an entry.
    const isOne = entries.length < 2 && entries[0]?.isDirectory !== true
    if (isOne && single) return this.#setFile(single)
    const found: InputFile[] = []
    const { filesMax } = this.#limits
    for (const entry of entries) await readEntry(entry, found, filesMax)
    if (found.length === 0) return
    if (found.length > filesMax)
      return this.#showStatus(
        t('This folder has more than {filesMax} files. Drop a smaller one.', {
          filesMax: formatNumber(filesMax),
        }),
      )
    const zip = zipSync(Object.fromEntries(found.map(({ path, bytes }) => [path, bytes])))
    this.#setFile(new File([new Uint8Array(zip)], 'page.zip', { type: 'application/zip' }))
  }

  /** Puts a file into the form, as if it were chosen, or takes it out. */
  #setFile(file?: File): void {
    const data = new DataTransfer()
    if (file) data.items.add(file)
    if (!this.#input) return
    this.#input.files = data.files
    this.#input.dispatchEvent(new Event('change', { bubbles: true }))
  }

  async #choose(): Promise<void> {
    const file = this.#input?.files?.[0]
    if (!file) return
    // The form sends what the preview shows: the file or the text.
    if (this.#text) this.#text.value = ''
    const { zipBytesMax } = this.#limits
    if (file.size > zipBytesMax) {
      return this.#showStatus(
        t('{inMb} is over the limit of {inMb2}.', {
          inMb: inMb(file.size),
          inMb2: inMb(zipBytesMax),
        }),
      )
    }
    const bytes = new Uint8Array(await file.arrayBuffer())
    const files = isZip(file, bytes) ? await this.#unpack(bytes) : [{ path: 'index.html', bytes }]
    if (!files) return
    await this.#show(files)
    await this.#drafts.put({ file, text: '', isSubmitted: false })
  }

  /** Reads a zip as the server does, or shows why it cannot be read. */
  async #unpack(bytes: Uint8Array): Promise<InputFile[] | undefined> {
    const found = await unzip(bytes, this.#limits)
    if ('files' in found) return found.files
    if ('reasons' in found) this.#showStatus(found.reasons.join(' '))
    else {
      const { tooLarge, max, path = t('The zip, unpacked') } = found
      this.#showStatus(
        t('{path}: {inMb} is over the limit of {inMb2}.', {
          path,
          inMb: inMb(tooLarge),
          inMb2: inMb(max),
        }),
      )
    }
    return undefined
  }

  async #paste(): Promise<void> {
    const text = this.#text?.value ?? ''
    if (text.trim() === '') return
    this.#setFile()
    await this.#show([{ path: 'index.html', bytes: new TextEncoder().encode(text) }])
    await this.#drafts.put({ text, isSubmitted: false })
  }

  /** Forgets the page, and shows the other ways again. */
  async #clear(): Promise<void> {
    this.#setFile()
    if (this.#text) this.#text.value = ''
    this.#showStatus('')
    await this.#drafts.clear()
    const preview = this.querySelector<AppPreview>('app-preview')
    if (preview) preview.hidden = true
  }

  async #show(files: InputFile[]): Promise<void> {
    const folder = readPageFolder(files)
    if ('problem' in folder) return this.#showStatus(folder.problem)
    await customElements.whenDefined('app-preview')
    const preview = this.querySelector<AppPreview>('app-preview')
    const count = folder.files.length
    if (count > 0) {
      // The files get an address when they are published, and nothing is sent before.
      if (preview) preview.hidden = true
      return this.#showStatus(
        t('{page} with {files}. It runs once you publish it.', {
          page: folder.page,
          files: count === 1 ? t('1 file') : t('{count} files', { count }),
        }),
      )
    }
    this.#showStatus(t('Preview. Not published yet.'))
    await preview?.show(folder.html)
  }

  #submit(event: SubmitEvent): void {
    if ('guest' in this.dataset && this.#input?.files?.length) {
      // A file is too large for the hidden field that carries drafts without scripts.
      event.preventDefault()
      location.assign('/sign-up?next=/new')
    } else if (!('guest' in this.dataset)) void this.#drafts.submit()
  }

  async #restore(): Promise<void> {
    // A prompt that came with the page is what the person wants to build now.
    if (this.querySelector<HTMLTextAreaElement>('[name=prompt]')?.value) return
    const draft: Draft | undefined = await this.#drafts.get()
    if (!draft) return
    const hasFailed = document.querySelector('main [role=alert]') !== null
    if (draft.isSubmitted && !hasFailed) return this.#drafts.clear()
    if (draft.file) return this.#setFile(draft.file)
    if (this.#text && this.#text.value === '') this.#text.value = draft.text
    await this.#paste()
  }
}

customElements.define('page-drop', PageDrop)
