interface Beating {
  beat(): void
}

/**
 * Calls `beat` of all its members with one shared timer, because many streams are open at a time.
 */
export class Heartbeat {
  private readonly members = new Set<Beating>()
  private timer: Timer | undefined

  constructor(private readonly everyMs: number) {}

  add(member: Beating): void {
    this.members.add(member)
    this.timer ??= setInterval(() => {
      for (const each of this.members) each.beat()
    }, this.everyMs)
  }

  delete(member: Beating): void {
    this.members.delete(member)
    if (this.members.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}
