import { expect, test } from 'bun:test'

import { temporaryFolder } from '../../testing/fixtures/temporary-folder.ts'
import { readLines } from '../../testing/processes/read-lines.ts'
import { binaryPath, textAt } from '../../testing/processes/server-process.ts'

/** Listens as systemd does for a socket unit. Starts the service for each line that it reads. */
const systemd = `
import os, socket, sys
listening = socket.create_server(('127.0.0.1', 0))
os.dup2(listening.fileno(), 3)
os.set_inheritable(3, True)
print(listening.getsockname()[1], flush=True)
while sys.stdin.readline():
    child = os.fork()
    if child == 0:
        os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid()))
        os.execv(sys.argv[1], sys.argv[1:])
    os.waitpid(child, 0)
`

test.skipIf(Bun.which('python3') === null)(
  'a server on the socket of systemd serves what connected before its start and during a restart',
  async () => {
    const { path, remove } = temporaryFolder('berth-socket-')
    const berth = [binaryPath, 'serve', '--json', '--port', '3123', '--data', path]
    const manager = Bun.spawn(['python3', '-c', systemd, ...berth], {
      cwd: path,
      env: { PATH: Bun.env['PATH'], OLLAMA_HOST: 'off', BUILDER_BROWSER: 'off' },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const lines = readLines(manager.stdout)
    const port = (await lines.next()).value
    const get = (): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/healthz`, { headers: { connection: 'close' } })
    const start = async (): Promise<number> => {
      manager.stdin.write('\n')
      manager.stdin.flush()
      const ready: object = JSON.parse((await lines.next()).value ?? '')
      expect(textAt(ready, 'origin')).toBe('http://localhost:3123')
      return Number(Reflect.get(ready, 'pid'))
    }

    const early = get()
    const first = await start()
    expect((await early).status).toBe(200)
    expect(
      await Promise.all(Array.from({ length: 20 }, async () => (await get()).ok)),
    ).not.toContain(false)

    process.kill(first, 'SIGTERM')
    const between = get()
    const second = await start()
    expect((await between).status).toBe(200)
    process.kill(second, 'SIGTERM')
    manager.stdin.end()
    expect(await manager.exited).toBe(0)
    remove()
  },
  60_000,
)
