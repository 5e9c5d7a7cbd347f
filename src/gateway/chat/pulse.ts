/** Beats what is in it, one and all, with one timer: many streams live at a time. */
export class Pulse {
  private readonly beaten = new Set<{ beat(): void }>()
  private timer: Timer | undefined

  constructor(private readonly everyMs: number) {}

  add(one: { beat(): void }): void {
    this.beaten.add(one)
    this.timer ??= setInterval(() => {
      for (const each of this.beaten) each.beat()
    }, this.everyMs)
  }

  delete(one: { beat(): void }): void {
    this.beaten.delete(one)
    if (this.beaten.size > 0) return
    clearInterval(this.timer)
    this.timer = undefined
  }
}
