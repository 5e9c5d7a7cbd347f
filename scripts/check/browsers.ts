import { browsers, newEnough, type Wanted } from '../../src/testing/browsers/browser.ts'

/**
 * Brings Debian's Chromium and Firefox for the browser tests, new enough, where this may: as root,
 * with apt. Elsewhere it says what is skipped and how to get it. `run` answers whether a command
 * succeeded.
 */
export async function installBrowsers(run: (command: string[]) => Promise<boolean>) {
  const missing = (): Wanted[] => Object.values(browsers).filter((one) => !newEnough(one))
  const names = missing().map((browser) => browser.package)
  if (names.length === 0) return true
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    const install = `apt-get update && apt-get install ${names.join(' ')}`
    console.log(`Skipped: browser tests, without a new ${names.join(' or ')}. As root: ${install}`)
    return true
  }
  // A list of packages that is months old installs browsers that are months old.
  await run(['apt-get', 'update', '-q'])
  const install = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-q']
  await run([...install, '--no-install-recommends', ...names])
  const still = missing()
  for (const { package: name, oldest } of still) {
    console.log(`${name} ${oldest} or newer could not be installed.`)
  }
  return still.length === 0
}
