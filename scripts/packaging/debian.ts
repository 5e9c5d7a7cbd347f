import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { homepage, version } from '../../package.json'

const packaging = join(import.meta.dir, '../../packaging')

const control = (architecture: string): string => `Package: berth
Version: ${version}
Architecture: ${architecture}
Maintainer: Berth <berth@berth.example>
Depends: libc6, passwd
Recommends: ca-certificates
Suggests: chromium
Section: web
Priority: optional
Homepage: ${homepage}
Description: hosting and a model gateway for AI agents
 One binary that hosts apps and games that AI agents create, and gives agents
 one OpenAI-compatible gateway to many models, both paid from one ledger.
`

/** Builds berth_<version>_<architecture>.deb with dpkg-deb. Equal files give equal bytes. */
export function debianPackage(architecture: 'amd64' | 'arm64', program: string, out: string): void {
  if (Bun.which('dpkg-deb') === null) {
    console.log('dpkg-deb is missing: there is no Debian package.')
    return
  }
  const tree = mkdtempSync(join(tmpdir(), 'berth-deb-'))
  const put = (path: string, content: string | Uint8Array, mode = 0o644): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true, mode: 0o755 })
    writeFileSync(join(tree, path), content)
    chmodSync(join(tree, path), mode)
  }
  put('DEBIAN/control', control(architecture))
  put('DEBIAN/conffiles', '/etc/default/berth\n')
  for (const name of ['postinst', 'prerm', 'postrm']) {
    put(`DEBIAN/${name}`, readFileSync(join(packaging, 'deb', name)), 0o755)
  }
  put('etc/default/berth', readFileSync(join(packaging, 'deb/default')))
  for (const unit of ['berth.service', 'berth.socket']) {
    put(`usr/lib/systemd/system/${unit}`, readFileSync(join(packaging, unit)))
  }
  put('usr/share/man/man1/berth.1.gz', Bun.gzipSync(readFileSync(join(out, 'berth.1'))))
  put('usr/share/doc/berth/copyright', readFileSync(join(out, 'LICENSES.txt')))
  mkdirSync(join(tree, 'usr/bin'))
  cpSync(program, join(tree, 'usr/bin/berth'))
  chmodSync(join(tree, 'usr/bin/berth'), 0o755)
  chmodSync(tree, 0o755)
  const file = join(out, `berth_${version}_${architecture}.deb`)
  // xz would take a minute for a fifth less.
  const command = ['dpkg-deb', '--root-owner-group', '-Zgzip', '-z6', '--build', tree, file]
  const env = { ...process.env, SOURCE_DATE_EPOCH: '1767225600' }
  const { exitCode } = Bun.spawnSync(command, { env, stdout: 'ignore', stderr: 'inherit' })
  rmSync(tree, { recursive: true })
  if (exitCode !== 0) throw new Error(`dpkg-deb failed for ${architecture}.`)
}
