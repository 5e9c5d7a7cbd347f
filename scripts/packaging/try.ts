/**
 * Installs each kind of package of dist/release that runs on this machine in an empty folder or
 * root, and publishes a page and chats with it. As root on Debian, it installs the programs that a
 * kind needs. Prints what was not run, which is a failure in CI.
 *   bun scripts/packaging/try.ts [kind ...]
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { version } from '../../package.json'
import { installPackages } from '../check/packages.ts'
import { succeeds } from '../check/run.ts'
import { programOf, targets } from './targets.ts'
import { usePython, useTypescript } from './use-sdks.ts'

const release = join(import.meta.dir, '../../dist/release')
const files = join(release, version)
const dockerfile = join(import.meta.dir, '../../Dockerfile')
const deadlineMs = 1_200_000

interface Options {
  cwd?: string
  env?: Record<string, string | undefined>
}

/** Runs a command and returns its output. Throws an Error with it when the command fails. */
function run(command: string[], { cwd = '/', env = {} }: Options = {}): string {
  const result = Bun.spawnSync(command, {
    cwd,
    env: { PATH: Bun.env['PATH'], HOME: cwd, ...env },
    stdin: 'ignore',
    stderr: 'pipe',
    timeout: deadlineMs,
  })
  const output = `${result.stdout}${result.stderr}`
  if (result.exitCode !== 0) throw new Error(`${command.join(' ')}\n${output}`)
  return output
}

function check(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(what)
}

/** Serves with a command, and uses the server: by default publishes a page, opens it and chats. */
async function walk(
  command: string[],
  { cwd = '/', env = {} }: Options = {},
  use: (origin: string) => Promise<void> = useServer,
): Promise<void> {
  const child = Bun.spawn([...command, 'serve', '--json', '--port', '0'], {
    cwd,
    env: { PATH: Bun.env['PATH'], HOME: cwd, DATA_DIR: join(cwd, 'data'), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: deadlineMs,
  })
  try {
    let line = ''
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      line += chunk
      if (line.includes('\n')) break
    }
    const origin = /"origin":"([^"]+)"/.exec(line)?.[1]
    if (origin === undefined) throw new Error(`No server: ${await child.stderr.text()}`)
    await use(origin)
    // npx does not pass a signal on.
    process.kill(Number(/"pid":(\d+)/.exec(line)?.[1]), 'SIGTERM')
    await child.exited
  } finally {
    child.kill('SIGKILL')
  }
}

async function useServer(origin: string): Promise<void> {
  const made = await fetch(`${origin}/api/keys`, { method: 'POST' })
  const [key = ''] = /ak_\w+/.exec(await made.text()) ?? []
  const post = async (path: string, body: unknown): Promise<string> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await fetch(`${origin}${path}`, init)).text()
  }
  const html = '<!doctype html><title>Hello</title><h1>Hello</h1>'
  const published = await post('/api/apps', { title: 'Hello', html })
  const [link = ''] = /http[^"]*\/a\/[\w-]+/.exec(published) ?? []
  check(link !== '', `Nothing was published: ${published}`)
  check((await fetch(link)).status === 200, `${link} does not open.`)
  const messages = [{ role: 'user', content: 'Ahoy' }]
  const chat = await post('/v1/chat/completions', { model: 'demo/chat', messages })
  check(chat.includes('"content":"Ahoy"'), `No reply: ${chat}`)
}

/** Unpacks the binary of a target. */
async function unpacked(target: string, folder: string): Promise<string> {
  const path = join(folder, `berth-${target}`)
  const packed = await Bun.file(join(files, `berth-${version}-${target}.gz`)).bytes()
  writeFileSync(path, Bun.gunzipSync(packed), { mode: 0o755 })
  return path
}

/** A registry of npm with the packages of the release, as `npm publish` would fill it. */
function startRegistry() {
  const tarballs = [...new Bun.Glob('*.tgz').scanSync({ cwd: files })]
  return Bun.serve({
    port: 0,
    fetch(request): Response {
      const { origin, pathname } = new URL(request.url)
      const path = decodeURIComponent(pathname).slice(1)
      if (path.endsWith('.tgz')) return new Response(Bun.file(join(files, path)))
      const file = `${path.replace(/^@berth\//, 'berth-')}-${version}.tgz`
      if (!tarballs.includes(file)) return new Response('{}', { status: 404 })
      const text = run([
        'tar',
        '--extract',
        '--to-stdout',
        '-f',
        join(files, file),
        'package/package.json',
      ])
      const dist = { tarball: `${origin}/${file}` }
      const manifest = { ...JSON.parse(text), dist }
      return Response.json({
        name: path,
        'dist-tags': { latest: version },
        versions: { [version]: manifest },
      })
    },
  })
}

/** `npm install berth` and `npx berth`, the latter after the registry is gone. */
async function tryNpm(folder: string): Promise<void> {
  const registry = startRegistry()
  const env = { npm_config_registry: registry.url.origin, npm_config_cache: join(folder, 'cache') }
  const child = Bun.spawn(['npm', 'install', '--no-audit', '--no-fund', 'berth'], {
    cwd: folder,
    env: { PATH: Bun.env['PATH'], HOME: folder, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: deadlineMs,
  })
  const output = (await child.stdout.text()) + (await child.stderr.text())
  check((await child.exited) === 0, output)
  await registry.stop(true)
  check(run(['npx', 'berth', 'version'], { cwd: folder, env }).trim() === version, 'npx berth')
  await walk(['npx', 'berth'], { cwd: folder, env })
}

/** `install.sh`, from the release as its address serves it. */
async function tryScript(folder: string): Promise<void> {
  const server = Bun.serve({
    port: 0,
    fetch: (request) => new Response(Bun.file(join(release, new URL(request.url).pathname))),
  })
  const child = Bun.spawn(['sh', join(release, 'install.sh')], {
    cwd: folder,
    env: { PATH: Bun.env['PATH'], HOME: folder, BERTH_RELEASES: server.url.origin },
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: deadlineMs,
  })
  const output = (await child.stdout.text()) + (await child.stderr.text())
  check((await child.exited) === 0, output)
  await server.stop(true)
  console.log(output.trim())
  await walk([join(folder, '.local/bin/berth')], { cwd: folder })
}

/**
 * Creates a root of Debian 12 and returns its path: `minbase` is a small installation, `extract`
 * has nothing but the files of the packages and of what they need.
 */
function createDebian(folder: string, variant: 'minbase' | 'extract', packages: string): string {
  const root = join(folder, 'root')
  run(['mmdebstrap', '--quiet', `--variant=${variant}`, `--include=${packages}`, 'bookworm', root])
  return root
}

/** The Debian package: installed, upgraded, removed and purged in a root of its own. */
async function tryDebian(folder: string): Promise<void> {
  const root = createDebian(folder, 'minbase', 'libc6,passwd')
  // Bun needs /proc.
  run(['mount', '-t', 'proc', 'proc', join(root, 'proc')])
  try {
    await tryInRoot(folder, root)
  } finally {
    run(['umount', join(root, 'proc')])
  }
}

/** Stands in for systemctl: it enables by a link, and notes the other words. */
const systemctl = `#!/bin/sh
link=/etc/systemd/system/multi-user.target.wants/berth.service
case $1 in
  enable) mkdir -p "\${link%/*}"; ln -sf /usr/lib/systemd/system/berth.service $link ;;
  is-enabled) [ -L $link ] ;;
  *) printf '%s ' "$1" >>/root/systemctl ;;
esac
`

async function tryInRoot(folder: string, root: string): Promise<void> {
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true })
  writeFileSync(join(root, 'usr/bin/systemctl'), systemctl, { mode: 0o755 })
  const inRoot = (...command: string[]) =>
    run(['chroot', root, ...command], { env: { HOME: '/root', DEBIAN_FRONTEND: 'noninteractive' } })
  run(['cp', join(files, `berth_${version}_amd64.deb`), join(root, 'berth.deb')])
  inRoot('dpkg', '--install', '/berth.deb')
  check(inRoot('stat', '-c', '%U %a', '/var/lib/berth').trim() === 'berth 700', 'the data folder')
  const asUser = ['chroot', '--userspec=berth:berth', root, '/usr/bin/berth']
  await walk(asUser, { env: { DATA_DIR: '/var/lib/berth', HOME: '/var/lib/berth' } })
  const kept = (): boolean => existsSync(join(root, 'var/lib/berth/berth.sqlite'))
  check(kept(), 'The server wrote no database.')
  writeFileSync(join(root, 'etc/default/berth'), 'PORT=4000\n')

  const next = join(folder, 'next')
  run(['dpkg-deb', '--raw-extract', join(root, 'berth.deb'), next])
  const control = readFileSync(join(next, 'DEBIAN/control'), 'utf8')
  writeFileSync(join(next, 'DEBIAN/control'), control.replace(/^Version: .*/m, 'Version: 999.0.0'))
  run(['dpkg-deb', '--root-owner-group', '-Zgzip', '-z1', '--build', next, join(root, 'next.deb')])
  inRoot('dpkg', '--install', '/next.deb')
  check(kept(), 'The upgrade lost the data.')
  const settings = readFileSync(join(root, 'etc/default/berth'), 'utf8')
  check(settings === 'PORT=4000\n', 'The upgrade lost the settings.')
  await walk(asUser, { env: { DATA_DIR: '/var/lib/berth', HOME: '/var/lib/berth' } })

  inRoot('dpkg', '--remove', 'berth')
  check(!existsSync(join(root, 'usr/bin/berth')) && kept(), 'The removal.')
  inRoot('dpkg', '--install', '/next.deb')
  const calls = readFileSync(join(root, 'root/systemctl'), 'utf8')
  const [start, remove] = ['daemon-reload restart ', 'stop daemon-reload ']
  const upgrade = `daemon-reload ${start}`
  check(calls === start + upgrade + remove + start, `systemctl got: ${calls}`)
  check(inRoot('dpkg', '--purge', 'berth').includes('stays in /var/lib/berth'), 'The purge.')
  check(kept(), 'The purge lost the data.')
  const enabled = readdirSync(join(root, 'etc/systemd/system/multi-user.target.wants'))
  check(!enabled.includes('berth.service'), `The purge left enabled: ${enabled.join(' ')}`)
}

/**
 * The last stage of the Dockerfile, built and run by buildah without a daemon or a registry. Its
 * base has libc6 of Debian and nothing else, and the first stage has the binary of the release.
 */
async function tryImage(folder: string): Promise<void> {
  const storage = [`--root=${join(folder, 'images')}`, `--runroot=${join(folder, 'run')}`]
  const command = (name: string, ...words: string[]): string[] => [
    'buildah',
    ...storage,
    '--storage-driver=vfs',
    name,
    ...words,
  ]
  const buildah = (name: string, ...words: string[]) => run(command(name, ...words)).trim()
  const base = buildah('from', 'scratch')
  buildah('add', base, createDebian(folder, 'extract', 'libc6'), '/')
  buildah('commit', '--quiet', '--rm', base, 'docker.io/library/debian:12-slim')

  const context = join(folder, 'context')
  mkdirSync(join(context, 'data'), { recursive: true })
  renameSync(await unpacked(`linux-${process.arch}`, context), join(context, 'berth'))
  const [, last = ''] = readFileSync(dockerfile, 'utf8').split(/^(?=FROM debian)/m)
  const first = 'FROM scratch AS build\nCOPY berth /src/dist/berth\nCOPY data /data\n'
  writeFileSync(join(context, 'Dockerfile'), first + last)
  buildah('build', '--quiet', '--isolation=chroot', '--pull-never', '--tag=berth', context)

  const container = buildah('from', '--pull-never', 'localhost/berth')
  const { User, Entrypoint, Cmd } = JSON.parse(buildah('inspect', container)).OCIv1.config
  const started = `${[User, ...Entrypoint, ...Cmd]}`
  check(started === '65532:65532,berth,serve', `The image starts ${started}.`)
  const inContainer = command('run', '--isolation=chroot', container, '--', ...Entrypoint)
  await walk(inContainer, {}, async (origin) => {
    await useServer(origin)
    const health = [...inContainer, 'health', '--port', new URL(origin).port]
    check(run(health).trim() === 'ok', 'The health check failed.')
  })
}

/** The binary for arm64, by the emulator of qemu-user. */
async function tryArm(folder: string): Promise<void> {
  const program = await unpacked('linux-arm64', folder)
  await walk(['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', program], { cwd: folder })
}

/** An SDK in an empty project, with the binary. */
const trySdk =
  (use: (at: { files: string; folder: string; origin: string }) => Promise<void>) =>
  async (folder: string): Promise<void> => {
    const program = await unpacked(`linux-${process.arch}`, folder)
    await walk([program], { cwd: folder }, (origin) => use({ files, folder, origin }))
  }

/** The first bytes of each format, and where the machine is in the header. */
const headers: Record<string, (bytes: DataView) => boolean> = {
  linux: (bytes) => bytes.getUint32(0) === 0x7f454c46,
  darwin: (bytes) => bytes.getUint32(0, true) === 0xfeedfacf,
  win32: (bytes) =>
    bytes.getUint16(0) === 0x4d5a && bytes.getUint32(bytes.getUint32(60, true)) === 0x50450000,
}
const machines: Record<string, { at: (bytes: DataView) => number; x64: number; arm64: number }> = {
  linux: { at: (bytes) => bytes.getUint16(18, true), x64: 62, arm64: 183 },
  darwin: { at: (bytes) => bytes.getUint32(4, true), x64: 0x01000007, arm64: 0x0100000c },
  win32: {
    at: (bytes) => bytes.getUint16(bytes.getUint32(60, true) + 4, true),
    x64: 0x8664,
    arm64: 0xaa64,
  },
}

/** Every binary of this release by its header, and each file by SHA256SUMS. */
function tryHeaders(): void {
  run(['sha256sum', '--check', '--quiet', 'SHA256SUMS'], { cwd: files })
  for (const target of targets) {
    const name = `berth-${target.name}${target.os === 'win32' ? '.exe' : ''}`
    const path = join(release, '..', name)
    if (!existsSync(path)) continue
    const head = new DataView(readFileSync(path).buffer)
    const machine = machines[target.os]
    check(headers[target.os]?.(head) === true, `${name} is no program of ${target.os}.`)
    check(machine?.at(head) === machine?.[target.cpu], `${name} is not for ${target.cpu}.`)
    console.log(`${(Bun.file(path).size / 1e6).toFixed(1)} MB  ${name} (${programOf(target)})`)
  }
}

/** A program that a kind needs, and the packages of Debian that bring it. */
interface Need {
  program: string
  packages: string[]
}

const npm: Need = { program: 'npm', packages: ['npm'] }
const mmdebstrap: Need = { program: 'mmdebstrap', packages: ['mmdebstrap'] }
const buildah: Need = { program: 'buildah', packages: ['buildah'] }
const chromium: Need = { program: 'chromium', packages: ['chromium'] }
const qemu: Need = { program: 'qemu-aarch64', packages: ['qemu-user', 'libc6-arm64-cross'] }
const python: Need = { program: 'python3', packages: ['python3', 'python3-venv'] }

const kinds: Record<string, { needs: Need[]; run: (folder: string) => unknown }> = {
  headers: { needs: [], run: tryHeaders },
  script: { needs: [], run: tryScript },
  npm: { needs: [npm], run: tryNpm },
  debian: { needs: [mmdebstrap], run: tryDebian },
  image: { needs: [mmdebstrap, buildah], run: tryImage },
  arm64: { needs: [qemu], run: tryArm },
  'sdk-node': { needs: [npm], run: trySdk((at) => useTypescript('node', at)) },
  'sdk-bun': { needs: [npm], run: trySdk((at) => useTypescript('bun', at)) },
  'sdk-deno': { needs: [npm], run: trySdk((at) => useTypescript('deno', at)) },
  'sdk-chromium': { needs: [npm, chromium], run: trySdk((at) => useTypescript('chromium', at)) },
  'sdk-python': { needs: [python], run: trySdk(usePython) },
}

const chosen = Bun.argv.slice(2)
let failures = 0
for (const [kind, { needs, run: runKind }] of Object.entries(kinds)) {
  if (chosen.length > 0 && !chosen.includes(kind)) continue
  for (const need of needs) {
    if (!(await installPackages({ tests: kind, ...need }, succeeds))) failures += 1
  }
  const missing = needs.filter(({ program }) => Bun.which(program) === null)
  if (missing.length > 0) {
    console.log(`not run  ${kind}: ${missing.map(({ program }) => program).join(', ')} is missing`)
    continue
  }
  const folder = mkdtempSync(join(tmpdir(), `berth-try-${kind}-`))
  try {
    await runKind(folder)
    console.log(`passed   ${kind}`)
  } catch (error) {
    failures += 1
    console.log(`failed   ${kind}: ${String(error)}`)
  }
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failures === 0 ? 0 : 1)
