import { ptr } from 'bun:ffi'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

import { openCLibrary } from '../../kernel/c-library.ts'
import { messageOf } from '../../kernel/text.ts'

/** The descriptor of the first socket that systemd passes to a service: sd_listen_fds(3). */
const passed = 3
const add = 1
const getFlags = 3
const setFlags = 4
const nonBlocking = 0o4000
const closeOnExec = 0o2000000
/** struct epoll_event: 32 bits of events and 64 of data, which only x64 packs. */
const dataAt = process.arch === 'x64' ? 4 : 8

/**
 * Makes a server that listens on `port` of 127.0.0.1 listen on the socket that systemd passed to
 * this process. `Bun.serve` takes no descriptor, so the one of its own socket becomes a copy of the
 * passed one. That ends its registration for events, which is repeated with the same data. Throws
 * an Error that says what to do.
 */
export function listenOnPassedSocket(port: number): void {
  try {
    const own = findListening(port)
    const event = findRegistration(own)
    const { dup3, epoll_ctl, fcntl } = openCLibrary({
      dup3: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
      epoll_ctl: { args: ['i32', 'i32', 'i32', 'ptr'], returns: 'i32' },
      fcntl: { args: ['i32', 'i32', 'i32'], returns: 'i32' },
    })
    // Bun accepts until there is no more connection. A blocking socket would then stop the process.
    const flags = fcntl(passed, getFlags, 0)
    const results = [
      flags,
      fcntl(passed, setFlags, flags | nonBlocking),
      dup3(passed, own, closeOnExec),
      epoll_ctl(event.poll, add, own, ptr(event.data)),
    ]
    if (results.some((result) => result < 0)) throw new Error('Descriptor 3 is no socket')
  } catch (error) {
    throw new Error(
      `The socket of systemd cannot be used: ${messageOf(error)}. Start the service without berth.socket.`,
    )
  }
}

const descriptors = '/proc/self/fd'

/** Returns the descriptors of this process that lead to a file of the kernel. */
function findDescriptors(target: string): number[] {
  const isTarget = (descriptor: string): boolean => {
    try {
      return readlinkSync(`${descriptors}/${descriptor}`) === target
    } catch {
      // That of the list itself is closed now.
      return false
    }
  }
  return readdirSync(descriptors).filter(isTarget).map(Number)
}

/** Returns the descriptor of the socket that listens on a port of 127.0.0.1: proc_net(5). */
function findListening(port: number): number {
  const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').split('\n')
  const inode = rows.map((row) => row.trim().split(/\s+/)).find((row) => row[1] === address)?.[9]
  const [descriptor] = findDescriptors(`socket:[${inode}]`)
  if (descriptor !== undefined) return descriptor
  throw new Error(`No socket listens on port ${port}`)
}

/** Returns the epoll descriptor that waits for another one, and the event that it waits for. */
function findRegistration(descriptor: number): { poll: number; data: Buffer } {
  const row = new RegExp(`^tfd: *${descriptor} events: *([0-9a-f]+) data: *([0-9a-f]+)`, 'm')
  for (const poll of findDescriptors('anon_inode:[eventpoll]')) {
    const [, events, value] = row.exec(readFileSync(`/proc/self/fdinfo/${poll}`, 'utf8')) ?? []
    if (value === undefined) continue
    const data = Buffer.alloc(dataAt + 8)
    data.writeUInt32LE(Number(`0x${events}`))
    data.writeBigUInt64LE(BigInt(`0x${value}`), dataAt)
    return { poll, data }
  }
  throw new Error('Nothing waits for its connections')
}
