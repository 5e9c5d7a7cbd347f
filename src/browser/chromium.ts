import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { Readable, Writable } from 'node:stream'

import { withTempFolder } from '../storage/temp-folder.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Finds Chromium on this machine. Returns undefined when there is none, or previews are off. */
export function findChromium(setting: string): string | undefined {
  if (setting === 'off') return undefined
  if (setting !== 'auto') return setting
  return names.flatMap((name) => Bun.which(name) ?? [])[0]
}

/**
 * Flags that disable the network: no host name resolves, and connections go to a closed proxy port.
 * The DevTools pipe serves everything that a page loads.
 */
const flags = [
  '--headless',
  '--remote-debugging-pipe',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-sync',
  '--disable-component-update',
  '--disable-extensions',
  '--disable-dev-shm-usage',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--proxy-server=127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--renderer-process-limit=2',
  '--js-flags=--max-old-space-size=512',
  '--mute-audio',
  '--hide-scrollbars',
]

/** Path of the browser, and the data folder of the server that uses it. */
export interface BrowserLocation {
  path: string
  dataDir: string
  /** The niceness of the browser. Requests to the server take priority over it. */
  niceness: number
}

/** The DevTools pipe of a running browser. */
export interface Pipe {
  input: Writable
  output: Readable
}

/**
 * Runs `work` with a new browser and profile, then kills the browser and removes the profile. The
 * browser inherits no environment variables. Throws when the browser cannot start.
 */
export const withChromium = <T>(
  { path, dataDir, niceness }: BrowserLocation,
  work: (pipe: Pipe) => Promise<T>,
): Promise<T> =>
  withTempFolder(dataDir, async (folder) => {
    // Chromium's own sandbox does not work as root.
    const own = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const child = spawn(path, [...flags, ...own, `--user-data-dir=${folder}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { HOME: folder, TMPDIR: folder, PATH: '/usr/bin:/bin' },
      detached: true,
    })
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const failed = new Promise<never>((_, reject) => child.once('error', reject))
    // A failed spawn has no pipe; its `error` event gives the reason.
    if (child.pid === undefined) return failed
    const [, , , out, come] = child.stdio
    try {
      setPriority(child.pid, niceness)
      if (!(out instanceof Writable) || !(come instanceof Readable)) throw new Error('no pipe')
      return await Promise.race([work({ input: out, output: come }), failed])
    } finally {
      // Kill the process group: renderers are separate processes.
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {}
      await ended
    }
  })
