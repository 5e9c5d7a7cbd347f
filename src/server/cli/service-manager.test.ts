import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { readLines } from '../../testing/processes/read-lines.ts'
import { binaryPath } from '../../testing/processes/server-process.ts'

/** Prints each message to a datagram socket, which Bun cannot receive, as a line. */
const receiver = `
import os, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print('bound', flush=True)
while True: print(receiver.recv(4096).decode(), flush=True)
`

test.skipIf(Bun.which('python3') === null)(
  'systemd hears that the server is ready, responds, and stops',
  async () => {
    const { path, remove } = temporaryFolder('berth-systemd-')
    const socket = join(path, 'notify')
    const systemd = Bun.spawn(['python3', '-c', receiver, socket], { stdout: 'pipe' })
    const lines = readLines(systemd.stdout)
    expect(await lines.next()).toMatchObject({ value: 'bound' })

    const berth = Bun.spawn(
      [binaryPath, 'serve', '--json', '--port', '0', '--data', join(path, 'data')],
      {
        cwd: path,
        env: { PATH: Bun.env['PATH'], NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' },
        stdout: 'pipe',
        stderr: 'ignore',
      },
    )
    for (const state of ['READY=1', 'WATCHDOG=1', 'WATCHDOG=1']) {
      expect(await lines.next()).toMatchObject({ value: state })
    }
    berth.kill('SIGTERM')
    for await (const state of lines) {
      if (state === 'STOPPING=1') break
      expect(state).toBe('WATCHDOG=1')
    }
    expect(await berth.exited).toBe(0)
    systemd.kill()
    remove()
  },
)
