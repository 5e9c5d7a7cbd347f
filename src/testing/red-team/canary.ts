/** A port on the loopback address, TCP and UDP, that records any contact. */
export interface Canary {
  port: number
  connected: boolean
  datagram: boolean
  close(): void
}

const response =
  'HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\nAccess-Control-Allow-Origin: *\r\n' +
  'Content-Length: 2\r\nConnection: close\r\n\r\n{}'

/** An open connection counts as contact, because preconnect sends no data. */
export async function openCanary(): Promise<Canary> {
  const canary: Canary = { port: 0, connected: false, datagram: false, close: () => undefined }
  const tcp = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => void (canary.connected = true),
      data(socket) {
        socket.end(response)
      },
      error: () => undefined,
    },
  })
  // The same number can be taken for UDP. Another port is tried then.
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
