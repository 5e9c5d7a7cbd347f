import { t } from '../../../public/words.ts'
import type { Attachment } from './conversation.browser.ts'
import { actionButton, element } from './elements.browser.ts'
import type { SessionGateway } from './gateway.browser.ts'

const filesMax = 10

/** Types that POST /v1/files takes, by the inputs of a model. Text is read from PDFs and audio. */
const always = [
  '.pdf',
  '.txt',
  '.md',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/mp4',
  'audio/x-m4a',
  'audio/webm',
  'audio/flac',
  'audio/aac',
]
const images = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

/** Files of the next message: chosen, dropped or pasted. A chat uploads them at once. */
export class Attachments {
  readonly bar = element('div', 'attach')
  readonly #list = element('ul', 'files')
  readonly #input = element('input')
  readonly #button: HTMLButtonElement
  #isUploaded = true
  #waiting = 0
  #uploads: Attachment[] = []
  /** The audio of a transcription, which is sent with its request. */
  #file: File | undefined

  constructor(
    private readonly gateway: SessionGateway,
    private readonly options: { bytesMax: number; onError(message: string): void },
  ) {
    this.#input.type = 'file'
    this.#input.hidden = true
    this.#input.setAttribute('aria-label', t('Files'))
    this.#input.addEventListener('change', () => {
      this.add([...(this.#input.files ?? [])])
      this.#input.value = ''
    })
    this.#button = actionButton(t('Attach'), 'button quiet', () => this.#input.click())
    this.bar.append(this.#button, this.#input, this.#list)
  }

  /** Prepares for a chat, a transcription, or requests without files. */
  setUp(mode: string, inputs: string[]): void {
    this.clear()
    this.bar.hidden = mode !== 'chat' && mode !== 'transcription'
    this.#isUploaded = mode === 'chat'
    this.#input.multiple = this.#isUploaded
    this.#button.textContent = this.#isUploaded ? t('Attach') : t('Choose audio')
    const chat = inputs.includes('image') ? [...always, ...images] : always
    this.#input.accept = (this.#isUploaded ? chat : ['audio/*', 'video/mp4', 'video/webm']).join(
      ',',
    )
  }

  get isUploading(): boolean {
    return this.#waiting > 0
  }

  get file(): File | undefined {
    return this.#file
  }

  get uploads(): Attachment[] {
    return this.#uploads
  }

  clear(): void {
    this.#uploads = []
    this.#file = undefined
    this.#list.replaceChildren()
  }

  add(files: File[]): void {
    if (this.bar.hidden) return
    for (const file of files) {
      if (file.size > this.options.bytesMax) {
        this.options.onError(
          t('{name} is too large. A file can have {floor} MB.', {
            name: file.name,
            floor: Math.floor(this.options.bytesMax / 1_048_576),
          }),
        )
      } else if (!this.#isUploaded) {
        this.clear()
        this.#file = file
        this.#show(file.name, () => this.clear())
      } else if (this.#uploads.length + this.#waiting >= filesMax) {
        this.options.onError(t('A message can have {filesMax} files.', { filesMax }))
      } else void this.#upload(file)
    }
  }

  async #upload(file: File): Promise<void> {
    this.#waiting += 1
    const item = this.#show(`${file.name} · uploading`, () => item.remove())
    try {
      const upload = await this.gateway.upload(file)
      if (!item.isConnected) return
      this.#uploads.push(upload)
      item.remove()
      const done = this.#show(upload.name, () => {
        this.#uploads = this.#uploads.filter(({ id }) => id !== upload.id)
        done.remove()
      })
    } catch (error) {
      item.remove()
      this.options.onError(error instanceof Error ? error.message : t('The upload failed.'))
    } finally {
      this.#waiting -= 1
    }
  }

  #show(name: string, onRemove: () => void): HTMLElement {
    const remove = actionButton('×', 'remove', onRemove)
    remove.setAttribute('aria-label', t('Remove {name}', { name }))
    const item = element('li', '', element('span', '', name), remove)
    this.#list.append(item)
    return item
  }
}
