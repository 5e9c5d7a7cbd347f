import { listen } from './listen.ts'
import { field } from './messages.ts'

/**
 * Lets the viewer mute an app: its media elements, its audio contexts and its speech. The app sees
 * the values of `muted` that it set itself.
 */
export function sound(shell: Window, wasMuted: boolean): void {
  let isMuted = wasMuted
  const apply = [openMedia(() => isMuted), openContexts(() => isMuted), openSpeech(() => isMuted)]
  listen('message', (event) => {
    if (event.source !== shell || field(event.data, 'type') !== 'service:sound') return
    event.stopImmediatePropagation()
    isMuted = field(event.data, 'isMuted') === true
    for (const change of apply) change()
  })
}

/** Audio and video elements, also those outside the document, from their first play on. */
function openMedia(isMuted: () => boolean): () => void {
  const native = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'muted')
  const { play } = HTMLMediaElement.prototype
  const requested = new WeakMap<HTMLMediaElement, boolean>()
  const known = new Set<WeakRef<HTMLMediaElement>>()
  const change = (element: HTMLMediaElement): void =>
    native?.set?.call(element, isMuted() || requested.get(element) === true)
  const add = (element: HTMLMediaElement): void => {
    if (!requested.has(element)) {
      requested.set(element, native?.get?.call(element) === true)
      known.add(new WeakRef(element))
    }
    change(element)
  }
  Object.defineProperty(HTMLMediaElement.prototype, 'muted', {
    get(this: HTMLMediaElement) {
      return requested.get(this) ?? native?.get?.call(this)
    },
    set(this: HTMLMediaElement, value: unknown) {
      add(this)
      requested.set(this, Boolean(value))
      change(this)
    },
    enumerable: true,
    configurable: true,
  })
  HTMLMediaElement.prototype.play = function () {
    add(this)
    return play.call(this)
  }
  // Elements with autoplay start without a call.
  const begin = ({ target }: Event): void => {
    if (target instanceof HTMLMediaElement) add(target)
  }
  listen('play', begin, { capture: true })
  return () => {
    for (const ref of known) {
      const element = ref.deref()
      if (element) change(element)
      else known.delete(ref)
    }
  }
}

/** A gain between each context and its speakers. Suspending a context would stop its clock. */
function openContexts(isMuted: () => boolean): () => void {
  if (!('BaseAudioContext' in window)) return () => undefined
  const real = Object.getOwnPropertyDescriptor(BaseAudioContext.prototype, 'destination')?.get
  const gains = new WeakMap<AudioContext, GainNode>()
  const known = new Set<WeakRef<GainNode>>()
  const volume = (): number => (isMuted() ? 0 : 1)
  const open = (context: AudioContext): GainNode => {
    const speakers: AudioDestinationNode = real?.call(context)
    const gain = new GainNode(context, { gain: volume() })
    gain.connect(speakers)
    Object.defineProperty(gain, 'maxChannelCount', {
      get: () => speakers.maxChannelCount,
      configurable: true,
    })
    gains.set(context, gain)
    known.add(new WeakRef(gain))
    return gain
  }
  Object.defineProperty(AudioContext.prototype, 'destination', {
    get(this: AudioContext) {
      return gains.get(this) ?? open(this)
    },
    enumerable: true,
    configurable: true,
  })
  return () => {
    for (const ref of known) {
      const gain = ref.deref()
      if (gain) gain.gain.value = volume()
      else known.delete(ref)
    }
  }
}

/** Speech has no volume once it runs, so muting ends it. */
function openSpeech(isMuted: () => boolean): () => void {
  if (!('speechSynthesis' in window)) return () => undefined
  const { speak } = SpeechSynthesis.prototype
  SpeechSynthesis.prototype.speak = function (utterance) {
    if (isMuted()) utterance.volume = 0
    speak.call(this, utterance)
  }
  return () => void (isMuted() && speechSynthesis.cancel())
}
