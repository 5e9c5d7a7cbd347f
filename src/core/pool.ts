/** What a worker answers: what it made, or why there is nothing. */
export type Answered<T> = { answer: T } | { fault: string }

/** Why a pool did not do a piece of work that nothing was wrong with: it may be asked again. */
export class PoolBusy extends Error {}

interface Piece<Asked, T> {
  asked: Asked
  bytes: number
  transfer: ArrayBuffer[]
  done: PromiseWithResolvers<T>
}

interface Hand<Asked, T> {
  worker: Worker
  piece: Piece<Asked, T> | undefined
  timer: Timer | undefined
}

export interface PoolBounds {
  workersMax: number
  queueMax: number
  queueBytesMax: number
  /** How long one piece of work may take. */
  pieceMs: number
  /** After how long without work a worker ends. */
  idleMs: number
}

/**
 * Workers for what would hold up the event loop. Each does one piece at a time and answers it with
 * `Answered`. A piece that takes too long, or a worker that dies, costs its own piece `PoolBusy`,
 * and the worker is replaced. Idle workers end, and none keeps the process alive.
 */
export class Pool<Asked, T> {
  private readonly hands = new Set<Hand<Asked, T>>()
  private readonly queue: Piece<Asked, T>[] = []
  private queuedBytes = 0
  private closed = false

  constructor(
    private readonly start: () => Worker,
    private readonly bounds: PoolBounds,
  ) {}

  /** Does one piece of work; `transfer` is given away. Throws PoolBusy, or the worker's fault. */
  async run(asked: Asked, transfer: ArrayBuffer[] = []): Promise<T> {
    const bytes = transfer.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const { queueMax, queueBytesMax } = this.bounds
    const full = this.queue.length >= queueMax || this.queuedBytes + bytes > queueBytesMax
    if (this.closed || full) throw new PoolBusy('too much of it is being done already')
    const done = Promise.withResolvers<T>()
    this.queue.push({ asked, bytes, transfer, done })
    this.queuedBytes += bytes
    this.next()
    return done.promise
  }

  /** Ends all workers; what is not finished throws PoolBusy. */
  close(): void {
    this.closed = true
    for (const { done } of this.queue.splice(0))
      done.reject(new PoolBusy('the service is stopping'))
    for (const hand of this.hands) this.drop(hand, 'the service is stopping')
  }

  private next(): void {
    if (this.closed || this.queue.length === 0) return
    const hand = [...this.hands].find(({ piece }) => !piece) ?? this.hire()
    const piece = hand && this.queue.shift()
    if (!hand || !piece) return
    this.queuedBytes -= piece.bytes
    clearTimeout(hand.timer)
    hand.piece = piece
    hand.timer = setTimeout(() => this.drop(hand, 'it took too long'), this.bounds.pieceMs)
    hand.worker.postMessage(piece.asked, piece.transfer)
  }

  private hire(): Hand<Asked, T> | undefined {
    if (this.hands.size >= this.bounds.workersMax) return undefined
    const hand: Hand<Asked, T> = { worker: this.start(), piece: undefined, timer: undefined }
    hand.worker.unref()
    hand.worker.onmessage = (event: MessageEvent<Answered<T>>) => this.finish(hand, event.data)
    hand.worker.onerror = (event) => {
      event.preventDefault()
      this.drop(hand, event.message)
    }
    hand.worker.addEventListener('close', () => this.drop(hand, 'its worker ended'))
    this.hands.add(hand)
    return hand
  }

  private finish(hand: Hand<Asked, T>, answered: Answered<T>): void {
    const { piece } = hand
    hand.piece = undefined
    clearTimeout(hand.timer)
    hand.timer = setTimeout(() => this.drop(hand, 'idle'), this.bounds.idleMs)
    hand.timer.unref()
    if ('fault' in answered) piece?.done.reject(new Error(answered.fault))
    else piece?.done.resolve(answered.answer)
    this.next()
  }

  private drop(hand: Hand<Asked, T>, why: string): void {
    if (!this.hands.delete(hand)) return
    clearTimeout(hand.timer)
    hand.worker.terminate()
    hand.piece?.done.reject(new PoolBusy(why))
    this.next()
  }
}
