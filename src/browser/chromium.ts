import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { Readable, Writable } from 'node:stream'

import { withScratch } from '../storage/scratch.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium of this machine; undefined when there is none, or it is off. */
export function browserOf(setting: string): string | undefined {
  if (setting === 'off') return undefined
  if (setting !== 'auto') return setting
  return names.flatMap((name) => Bun.which(name) ?? [])[0]
}

/**
 * Nothing leaves it: no name resolves, and what would connect meets a proxy that is not there. All
 * that a page loads is answered over its pipe.
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

/** A browser, and the data folder of who opens pages in it, one after the other. */
export interface Browser {
  path: string
  dataDir: string
}

/** The two ends of the pipe. */
export interface Pipe {
  out: Writable
  come: Readable
}

/**
 * Starts a browser with a profile of its own for one piece of work, and ends it with all that it
 * wrote. It sees nothing of this process's environment. Throws when it cannot be started.
 */
export const withChromium = <T>(
  { path, dataDir }: Browser,
  work: (pipe: Pipe) => Promise<T>,
): Promise<T> =>
  withScratch(dataDir, async (folder) => {
    // Chromium's own sandbox cannot be had as root.
    const own = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const child = spawn(path, [...flags, ...own, `--user-data-dir=${folder}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      env: { HOME: folder, TMPDIR: folder, PATH: '/usr/bin:/bin' },
      detached: true,
    })
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const failed = new Promise<never>((_, reject) => child.once('error', reject))
    // What did not start has no pipe yet, and says only a moment later why.
    if (child.pid === undefined) return failed
    const [, , , out, come] = child.stdio
    try {
      // Who visits an app goes before who builds one.
      setPriority(child.pid, 10)
      if (!(out instanceof Writable) || !(come instanceof Readable)) throw new Error('no pipe')
      return await Promise.race([work({ out, come }), failed])
    } finally {
      // Its whole group: the renderers are processes of their own.
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {}
      await ended
    }
  })
