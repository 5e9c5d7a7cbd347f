/** The targets that Bun compiles for, with their names in the packages of each kind. */
export interface Target {
  /** `bun-<name>` is the target of `bun build`. */
  name: string
  /** The fields `os`, `cpu` and `libc` of an npm package. */
  os: 'linux' | 'darwin' | 'win32'
  cpu: 'x64' | 'arm64'
  libc?: 'glibc' | 'musl'
  /** The architecture of a Debian package. */
  debian?: 'amd64' | 'arm64'
  /** For processors without AVX2. npm cannot choose by that. */
  isBaseline?: true
}

export const targets: readonly Target[] = [
  { name: 'linux-x64', os: 'linux', cpu: 'x64', libc: 'glibc', debian: 'amd64' },
  { name: 'linux-x64-baseline', os: 'linux', cpu: 'x64', libc: 'glibc', isBaseline: true },
  { name: 'linux-arm64', os: 'linux', cpu: 'arm64', libc: 'glibc', debian: 'arm64' },
  { name: 'linux-x64-musl', os: 'linux', cpu: 'x64', libc: 'musl' },
  { name: 'linux-arm64-musl', os: 'linux', cpu: 'arm64', libc: 'musl' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64' },
  { name: 'windows-x64', os: 'win32', cpu: 'x64' },
]

/** Returns the name of the executable of a target. */
export const programOf = ({ os }: Target): string => (os === 'win32' ? 'berth.exe' : 'berth')
