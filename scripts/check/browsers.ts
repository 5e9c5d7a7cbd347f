import { browsers, newEnough, type Wanted } from '../../src/testing/browsers/browser.ts'

/**
 * Brings Debian's Chromium, Firefox and WebKitGTK for the browser tests, new enough, where this
 * may: as root, with apt. Elsewhere it says what is skipped and how to get it. `run` answers if
 * a command succeeded.
 */
export async function installBrowsers(run: (command: string[]) => Promise<boolean>) {
  const missing = (): Wanted[] => Object.values(browsers).filter((one) => !newEnough(one))
  const names = missing().flatMap(({ packages }) => packages)
  if (names.length === 0) return true
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    const install = `apt-get update && apt-get install ${names.join(' ')}`
    console.log(`Skipped: browser tests, without a new ${names.join(' or ')}. As root: ${install}`)
    return true
  }
  // A list of packages that is months old installs browsers that are months old.
  await run(['apt-get', 'update', '-q'])
  const install = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-q']
  // One by one: apt installs none of those that it is asked for when it does not know one.
  for (const { packages } of missing()) {
    await run([...install, '--no-install-recommends', ...packages])
  }
  const still = missing()
  for (const { packages, oldest, isOptional } of still) {
    const what = [packages.join(' and '), ...(oldest === undefined ? [] : [oldest, 'or newer'])]
    const then = isOptional ? ': its tests are skipped' : ''
    console.log(`${what.join(' ')} could not be installed${then}.`)
  }
  return still.every(({ isOptional }) => isOptional)
}
