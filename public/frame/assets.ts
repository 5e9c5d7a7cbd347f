import { listen } from './listen.ts'
import { field } from './messages.ts'

/** `service.assets` (document 1, section 2). The shell sends the files as blobs in one message. */
export interface Assets {
  /** Resolves to the list of names when the files have arrived. */
  ready: Promise<string[]>
  names(): string[]
  /** Returns a URL for img, audio or CSS url(); '' for a missing file. */
  url(name: string): string
  image(name: string): Promise<HTMLImageElement | null>
  audio(name: string): Promise<HTMLAudioElement | null>
  bytes(name: string): Promise<ArrayBuffer | null>
  json(name: string): Promise<unknown>
}

/** Milliseconds to wait for audio: an iPhone may load none before a tap. */
const waitMs = 3_000

/** Loads an element from a URL; null when this browser cannot show or play it. */
const loaded = <E extends HTMLElement & { src: string }>(element: E, done: string, src: string) =>
  new Promise<E | null>((resolve) => {
    element.addEventListener(done, () => resolve(element), { once: true })
    element.addEventListener('error', () => resolve(null), { once: true })
    element.src = src
  })

export function openAssets(shell: Window): Assets {
  const files = new Map<string, Blob>()
  const urls = new Map<string, string>()
  const addressOf = URL.createObjectURL.bind(URL)
  const ready = new Promise<string[]>((resolve) => {
    let came = false
    const take = (event: MessageEvent): void => {
      if (came) return
      const list = field(event.data, 'files')
      if (event.source !== shell || field(event.data, 'type') !== 'service:assets') return
      event.stopImmediatePropagation()
      came = true
      for (const file of Array.isArray(list) ? list : []) files.set(file.name, file.blob)
      resolve([...files.keys()])
    }
    listen('message', take, { capture: true })
  })
  const url = (given: string): string => {
    const name = String(given)
    const file = files.get(name)
    if (file && !urls.has(name)) urls.set(name, addressOf(file))
    return urls.get(name) ?? ''
  }
  const blob = async (name: string): Promise<Blob | null> => {
    await ready
    return files.get(String(name)) ?? null
  }
  return Object.freeze({
    ready,
    url,
    names: () => [...files.keys()],
    async image(name: string) {
      return (await blob(name)) && loaded(new Image(), 'load', url(name))
    },
    async audio(name: string) {
      if (!(await blob(name))) return null
      const audio = new Audio()
      audio.preload = 'auto'
      const late = new Promise<HTMLAudioElement>((go) => setTimeout(() => go(audio), waitMs))
      return Promise.race([loaded(audio, 'canplay', url(name)), late])
    },
    async bytes(name: string) {
      return (await blob(name))?.arrayBuffer() ?? null
    },
    async json(name: string): Promise<unknown> {
      const file = await blob(name)
      return file
        ? file
            .text()
            .then(JSON.parse)
            .catch(() => null)
        : null
    },
  })
}
