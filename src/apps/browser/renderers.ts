import { isRecord } from '../../kernel/schema.ts'
import { readProcessBytes } from '../../store/system-files.ts'
import type { Devtools } from './devtools.ts'

/** Memory of one process, after which it is killed. A page of the largest size needs a third. */
const bytesMax = 1_073_741_824

/** Processes that run a page. */
export class PageProcesses {
  private readonly cpu = new Map<number, number>()
  /** Memory of the largest process. */
  bytes = 0
  /** CPU time of all processes. */
  get cpuSeconds(): number {
    return [...this.cpu.values()].reduce((sum, seconds) => sum + seconds, 0)
  }

  record(pid: number, cpuSeconds: number, bytes: number): void {
    this.cpu.set(pid, cpuSeconds)
    this.bytes = Math.max(this.bytes, bytes)
  }
}

/**
 * The processes of a browser, by page. Chromium does not say which process runs which page, so
 * pages open one after the other, and a new process belongs to the page that opened last.
 */
export class Renderers {
  private readonly owners = new Map<number, PageProcesses>()
  private newest = new PageProcesses()
  private opened: Promise<unknown> = Promise.resolve()

  constructor(
    private readonly devtools: Devtools,
    private readonly kill: (pid: number | undefined) => void,
  ) {}

  /** Runs `open`, which starts the processes of a page. */
  async open(page: PageProcesses, open: () => Promise<void>): Promise<void> {
    const turn = this.opened.then(async () => {
      await this.measure()
      this.newest = page
      await open()
      await this.measure()
    })
    this.opened = turn.catch(() => {})
    return turn
  }

  /** Measures all processes, and kills those that use too much memory. */
  async measure(): Promise<void> {
    const { processInfo } = await this.devtools.send('SystemInfo.getProcessInfo')
    for (const one of Array.isArray(processInfo) ? processInfo : []) {
      if (!isRecord(one)) continue
      const [pid, bytes] = [Number(one.id), await readProcessBytes(Number(one.id))]
      if (one.type === 'renderer') {
        const owner = this.owners.get(pid) ?? this.newest
        this.owners.set(pid, owner)
        owner.record(pid, Number(one.cpuTime), bytes)
      }
      // The other processes serve all pages, so the browser ends with them.
      if (bytes > bytesMax) this.kill(one.type === 'renderer' ? pid : undefined)
    }
  }
}
