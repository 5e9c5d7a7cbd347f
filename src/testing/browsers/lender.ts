/** The time after which a browser without a borrower ends. The next file of a run comes sooner. */
const idleMs = 5_000

interface Lent<Browser> {
  browser: Promise<Browser>
  borrowers: number
  end?: ReturnType<typeof setTimeout>
}

/** Lends one browser of a path to all files of a process, because a start takes seconds of it. */
export class BrowserLender<Browser> {
  private readonly all = new Map<string, Lent<Browser>>()

  constructor(
    private readonly start: (path: string) => Promise<Browser>,
    private readonly ends: {
      isRunning(browser: Browser): boolean
      close(browser: Browser): Promise<unknown>
    },
  ) {}

  /** Returns a running browser, and the function that ends the loan. */
  async borrow(path: string): Promise<[browser: Browser, giveBack: () => void]> {
    const known = await this.find(path)
    const lent = known ?? { browser: this.start(path), borrowers: 0 }
    this.all.set(path, lent)
    lent.borrowers += 1
    clearTimeout(lent.end)
    const browser = await lent.browser
    const giveBack = (): void => {
      lent.borrowers -= 1
      if (lent.borrowers > 0) return
      lent.end = setTimeout(() => {
        if (this.all.get(path) === lent) this.all.delete(path)
        void this.ends.close(browser)
      }, idleMs)
    }
    return [browser, giveBack]
  }

  private async find(path: string): Promise<Lent<Browser> | undefined> {
    const known = this.all.get(path)
    return known && this.ends.isRunning(await known.browser) ? known : undefined
  }
}

/**
 * Returns a command whose program the kernel ends with this process: a browser that is lent until
 * then has no other end, and a test run has no event of its own for it.
 */
export const endingWithProcess = (command: string[]): string[] => [
  'setpriv',
  '--pdeathsig=KILL',
  ...command,
]
