import { ptr } from 'bun:ffi'

import { openCLibrary } from '../../kernel/c-library.ts'
import type { ServiceManager } from '../../kernel/config/load.ts'
import { messageOf } from '../../kernel/text.ts'
import type { RunningServer } from '../http/server.ts'

const unixFamily = 1
const datagram = 2
const closeOnExec = 0o2000000

/**
 * Tells systemd that a server is ready and, with WatchdogSec, that it still responds. Bun has no
 * datagram sockets of Unix, so they are opened by the C library. Returns a function that tells it
 * that the server stops.
 */
export function notifyServiceManager(server: RunningServer, manager: ServiceManager): () => void {
  let send: (state: string) => void
  try {
    send = senderTo(manager.socket)
  } catch (error) {
    server.ctx.log.warn('systemd.unavailable', { why: messageOf(error) })
    return () => undefined
  }
  send('READY=1')
  if (manager.watchdogMs > 0) {
    const check = async (): Promise<void> => {
      const { ok } = await server.send(new Request('http://localhost/healthz'))
      if (ok) send('WATCHDOG=1')
    }
    setInterval(() => void check(), manager.watchdogMs / 2).unref()
  }
  return () => send('STOPPING=1')
}

/** Returns a function that sends a state to a socket as sd_notify(3) does. */
function senderTo(path: string): (state: string) => void {
  const { socket, sendto } = openCLibrary({
    socket: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    sendto: { args: ['i32', 'ptr', 'u64', 'i32', 'ptr', 'u32'], returns: 'i64' },
  })
  // struct sockaddr_un. A leading @ is an abstract name, which begins with a zero byte.
  const address = Buffer.alloc(110)
  address.writeUInt16LE(unixFamily, 0)
  const length = 2 + address.write(path.replace(/^@/, '\0'), 2)
  const descriptor = socket(unixFamily, datagram | closeOnExec, 0)
  return (state) => {
    const message = Buffer.from(state)
    sendto(descriptor, ptr(message), message.length, 0, ptr(address), length)
  }
}
