import { type NanoUsd, zero } from '../money.ts'

/** The text of an audio file, and its cost to this request. */
export interface Transcript {
  words: string
  cost: NanoUsd
}

type Start = (signal: AbortSignal) => Promise<Transcript>

/** The running transcriptions of audio files, by the id of the file. */
export class Transcriptions {
  private readonly running = new Map<string, SharedTranscription>()

  /**
   * Waits for the transcript of a file, for a client that leaves with `signal`. The first client
   * starts it and pays; it costs the others nothing.
   */
  async wait(file: string, signal: AbortSignal, start: Start): Promise<Transcript> {
    const known = this.running.get(file)
    const shared = known && !known.isAborted ? known : new SharedTranscription(start)
    this.running.set(file, shared)
    try {
      const transcript = await shared.wait(signal)
      return shared === known ? { ...transcript, cost: zero } : transcript
    } finally {
      if (this.running.get(file) === shared) this.running.delete(file)
    }
  }
}

/** A transcription for all chats that wait for it. It is aborted when the last one leaves. */
class SharedTranscription {
  private readonly controller = new AbortController()
  private readonly transcript: Promise<Transcript>
  private waiting = 0

  constructor(start: Start) {
    this.transcript = start(this.controller.signal)
  }

  get isAborted(): boolean {
    return this.controller.signal.aborted
  }

  async wait(signal: AbortSignal): Promise<Transcript> {
    const leave = (): void => {
      this.waiting -= 1
      if (this.waiting === 0) this.controller.abort()
    }
    this.waiting += 1
    signal.addEventListener('abort', leave)
    if (signal.aborted) leave()
    return this.transcript.finally(() => signal.removeEventListener('abort', leave))
  }
}
