import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { freePort } from '../free-port.ts'
import { until } from '../until.ts'

/** A server of Debian in a process of its own. */
export interface Helper {
  port: number
  close(): Promise<void>
}

/** Returns the path of a program, also where PATH lacks the folders of the system's servers. */
const findProgram = (name: string): string | undefined =>
  Bun.which(name, { PATH: `${Bun.env.PATH}:/usr/sbin:/usr/local/sbin` }) ?? undefined

const nginx = findProgram('nginx')
const pgbouncer = findProgram('pgbouncer')

/** The packages that the tests of several servers need and this machine lacks. */
export const missingPackages = [
  ...(nginx ? [] : ['nginx-light']),
  ...(pgbouncer ? [] : ['pgbouncer']),
]

const canConnect = (port: number): Promise<boolean> =>
  Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then(
    (socket) => {
      socket.end()
      return true
    },
    () => false,
  )

async function run(command: string[], port: number): Promise<Helper> {
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
  await until(() => canConnect(port))
  return {
    port,
    close: async () => {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** The configuration of docs/scaling.md, with the addresses of a test. */
const nginxConfig = (folder: string, port: number, origins: string[]): string => `
daemon off;
worker_processes 1;
pid ${folder}/pid;
error_log ${folder}/error.log;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  upstream berth {
    ${origins.map((origin) => `server ${new URL(origin).host} max_fails=1 fail_timeout=2s;`).join('\n    ')}
    keepalive 32;
  }
  server {
    listen 127.0.0.1:${port};
    client_max_body_size 0;
    location / {
      proxy_pass http://berth;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_buffering off;
      proxy_read_timeout 660s;
      proxy_next_upstream error timeout http_503;
    }
  }
}
`

/** Starts nginx in front of servers. It sends each request to the next one. */
export function startBalancer(folder: string, origins: string[]): Promise<Helper> {
  mkdirSync(folder, { recursive: true })
  const port = freePort()
  const path = join(folder, 'nginx.conf')
  writeFileSync(path, nginxConfig(folder, port, origins))
  return run([nginx ?? 'nginx', '-p', folder, '-c', path], port)
}

/** Starts PgBouncer in transaction mode in front of a database. */
export async function startPooler(folder: string, url: string): Promise<Helper & { url: string }> {
  mkdirSync(folder, { recursive: true })
  const { hostname, port, username, password, pathname } = new URL(url)
  const own = freePort()
  const path = join(folder, 'pgbouncer.ini')
  const target = `host=${hostname} port=${port} dbname=${pathname.slice(1)}`
  writeFileSync(
    path,
    `[databases]
* = ${target} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 200
default_pool_size = 20
`,
  )
  chmodSync(path, 0o644)
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  const helper = await run([pgbouncer ?? 'pgbouncer', ...user, path], own)
  const pooled = new URL(url)
  pooled.port = String(own)
  return { ...helper, url: pooled.href }
}
