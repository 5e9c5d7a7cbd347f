import {
  browsers,
  type BrowserSpec,
  findPath,
  headlessShell,
} from '../../src/testing/browsers/browser.ts'

/**
 * Installs Debian's Chromium, Firefox and WebKitGTK for the browser tests, as root and with apt.
 * Elsewhere it prints the command to install them. `run` returns whether a command succeeded.
 */
export async function installBrowsers(run: (command: string[]) => Promise<boolean>) {
  const all: BrowserSpec[] = [...Object.values(browsers), headlessShell]
  const missing = (): BrowserSpec[] => all.filter((one) => !findPath(one))
  const names = missing().flatMap(({ packages }) => packages)
  if (names.length === 0) return true
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    const install = `apt-get update && apt-get install ${names.join(' ')}`
    console.log(
      `Browser tests need ${names.join(' and ')}, which is missing or too old. As root: ${install}`,
    )
    return true
  }
  // An old list of packages would install old browsers.
  await run(['apt-get', 'update', '-q'])
  const install = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-q']
  // One by one, because apt installs nothing when it does not know one of the packages.
  for (const { packages } of missing()) {
    await run([...install, '--no-install-recommends', ...packages])
  }
  const still = missing()
  for (const { packages, oldest, isOptional } of still) {
    const missingNames = [
      packages.join(' and '),
      ...(oldest === undefined ? [] : [oldest, 'or newer']),
    ]
    const note = isOptional ? ': the tests that need it are skipped' : ''
    console.log(`${missingNames.join(' ')} could not be installed${note}.`)
  }
  return still.every(({ isOptional }) => isOptional)
}

/**
 * Installs packages of Debian that tests need, as root and with apt. Elsewhere it prints the
 * command, and those tests are skipped; CI needs them. `program` is one that the packages bring.
 */
export async function installPackages(
  { tests, program, packages }: { tests: string; program: string; packages: string[] },
  run: (command: string[]) => Promise<boolean>,
) {
  if (Bun.which(program) !== null) return true
  const names = packages.join(' ')
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    console.log(`Skipping tests of ${tests}. As root: apt-get update && apt-get install ${names}`)
    return Bun.env['CI'] === undefined
  }
  await run(['apt-get', 'update', '-q'])
  const install = 'env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends'
  await run([...install.split(' '), ...packages])
  const isThere = Bun.which(program) !== null
  if (!isThere) console.log(`${names} could not be installed: the tests of ${tests} are skipped.`)
  return isThere || Bun.env['CI'] === undefined
}

/**
 * Installs a program from a Go module, for tests of what Debian has no package for. Where Go is
 * missing, or it is no root, it prints the command, and those tests are skipped.
 */
export async function installModule(
  { tests, program, module }: { tests: string; program: string; module: string },
  run: (command: string[], env?: Record<string, string>) => Promise<boolean>,
) {
  if (Bun.which(program) !== null) return true
  const install = ['go', 'install', module]
  if (process.getuid?.() === 0 && Bun.which('go') !== null) {
    return run(install, { GOBIN: '/usr/local/bin' })
  }
  console.log(`Skipping tests of ${tests}. They need ${program}: ${install.join(' ')}`)
  return true
}
