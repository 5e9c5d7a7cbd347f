const packages = { chromium: '/usr/bin/chromium', 'firefox-esr': '/usr/bin/firefox-esr' }

/**
 * Brings Debian's Chromium and Firefox for the browser tests, where this may: as root, with apt.
 * Elsewhere it says what is skipped and how to get it. `run` answers whether a command succeeded.
 */
export async function installBrowsers(run: (command: string[]) => Promise<boolean>) {
  const missing = Object.entries(packages).flatMap(([name, path]) =>
    Bun.which(path) === null ? [name] : [],
  )
  if (missing.length === 0) return true
  if (process.getuid?.() !== 0 || Bun.which('apt-get') === null) {
    const names = missing.join(' ')
    console.log(`Skipped: browser tests, without ${names}. As root: apt-get install ${names}`)
    return true
  }
  const install = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', 'install', '-y', '-q']
  const command = [...install, '--no-install-recommends', ...missing]
  // The list of packages may be missing or too old: fetch it only then.
  return (await run(command)) || ((await run(['apt-get', 'update', '-q'])) && run(command))
}
