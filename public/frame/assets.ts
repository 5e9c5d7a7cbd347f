import type { OwnFiles } from './messages.ts'

/** `service.assets` (document 1, section 2): the files at the address of the version. */
export interface Assets {
  /** Resolves to the list of names. */
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
const loaded = <E extends HTMLImageElement | HTMLMediaElement>(
  element: E,
  done: string,
  src: string,
) =>
  new Promise<E | null>((resolve) => {
    // The page can then read its pixels and samples.
    element.crossOrigin = 'anonymous'
    element.addEventListener(done, () => resolve(element), { once: true })
    element.addEventListener('error', () => resolve(null), { once: true })
    element.src = src
  })

const noFiles = { address: '', names: [] }

export function openAssets({
  address,
  names,
}: Pick<OwnFiles, 'address' | 'names'> = noFiles): Assets {
  const known = new Set(names)
  // In an offline copy `fetch` is replaced later (copied-files.ts).
  const load = (given: string): Promise<Response> => fetch(given)
  const url = (given: string): string => {
    const name = String(given)
    return known.has(name) ? address + name.split('/').map(encodeURIComponent).join('/') : ''
  }
  const read = async (name: string): Promise<Response | null> => {
    const response = url(name) === '' ? undefined : await load(url(name))
    return response?.ok ? response : null
  }
  return Object.freeze({
    ready: Promise.resolve([...names]),
    url,
    names: () => [...names],
    async image(name: string) {
      return url(name) === '' ? null : loaded(new Image(), 'load', url(name))
    },
    async audio(name: string) {
      if (url(name) === '') return null
      const audio = new Audio()
      audio.preload = 'auto'
      const late = new Promise<HTMLAudioElement>((go) => setTimeout(() => go(audio), waitMs))
      return Promise.race([loaded(audio, 'canplay', url(name)), late])
    },
    async bytes(name: string) {
      return (await read(name))?.arrayBuffer() ?? null
    },
    async json(name: string): Promise<unknown> {
      return (await read(name))?.json().catch(() => null) ?? null
    },
  })
}
