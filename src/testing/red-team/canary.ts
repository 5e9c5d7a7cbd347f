/** A port of its own on the loopback address, TCP and UDP alike, that notices any contact. */
export interface Canary {
  port: number
  connected: boolean
  datagram: boolean
  close(): void
}

const answer =
  'HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n' +
  'Content-Length: 2\r\nConnection: close\r\n\r\n{}'

/** A connection counts as soon as it is open: preconnect never says a word. */
export async function openCanary(): Promise<Canary> {
  const canary: Canary = { port: 0, connected: false, datagram: false, close: () => undefined }
  const tcp = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void (canary.connected = true),
      data(socket) {
        socket.end(answer)
      },
      error: () => undefined,
    },
  })
  // The same number may be taken for UDP; then a few others are tried.
  const udp = await Bun.udpSocket({
    hostname: '127.0.0.1',
    port: tcp.port,
    socket: { data: () => void (canary.datagram = true) },
  }).catch(() => undefined)
  if (!udp) {
    tcp.stop(true)
    return openCanary()
  }
  canary.port = tcp.port
  canary.close = () => {
    tcp.stop(true)
    udp.close()
  }
  return canary
}
